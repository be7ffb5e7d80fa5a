"""From Numba's typed loops to LLVM's, with less to say: a third of what there would be to write, read and optimize.

Three things make the difference. A record of arrays (a named tuple) is handed from loop to loop by its address, not as
some hundred numbers. A loop that makes no arrays counts no references: whoever calls it holds what it looks at. And a
number of an array is read and written where it stands, without copying the array's description first.
"""

from __future__ import annotations

from typing import Any

from numba.core import cgutils, ir, types
from numba.core.compiler_machinery import register_pass
from numba.core.datamodel.models import PrimitiveModel
from numba.core.datamodel.registry import register_default
from numba.core.imputils import impl_ret_borrowed, lower_cast, lower_getattr_generic
from numba.core.lowering import Lower
from numba.core.pythonapi import NativeValue, unbox
from numba.core.typed_passes import NativeLowering
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.np.arrayobj import fix_integer_index

LOOKING = {"getattr", "static_getitem", "getiter", "iternext", "exhaust_iter", "build_tuple", "cast"}  # make nothing


class Lent(types.Type):
    """The address of a record that the caller holds."""

    def __init__(self, record: Any) -> None:
        self.record = record
        super().__init__(name=f"Lent({record})")

    @property
    def key(self) -> Any:
        """The record, which knows its class: two classes may have the same name."""
        return self.record


def lend(kind: Any) -> Any:
    """How a value is handed to a loop: records by address, all others as they are."""
    return Lent(kind) if isinstance(kind, types.BaseNamedTuple) else kind


@register_default(Lent)
class _LentModel(PrimitiveModel):
    def __init__(self, manager: Any, kind: Lent) -> None:
        super().__init__(manager, kind, manager.lookup(kind.record).get_value_type().as_pointer())


@infer_getattr
class _LentFields(AttributeTemplate):
    key = Lent

    def generic_resolve(self, lent: Lent, name: str) -> Any:  # type: ignore[override]
        """The type of a field, None if there is none of that name."""
        fields = dict(zip(lent.record.fields, lent.record.types, strict=True))
        return lend(fields[name]) if name in fields else None


@lower_getattr_generic(Lent)
def _look_up(context: Any, builder: Any, lent: Lent, address: Any, name: str) -> Any:
    at = lent.record.fields.index(name)
    field, kind = cgutils.gep_inbounds(builder, address, 0, at), lent.record.types[at]
    if isinstance(lend(kind), Lent):
        return field
    return impl_ret_borrowed(context, builder, kind, builder.load(field))


@lower_cast(types.BaseNamedTuple, Lent)
def _lend(context: Any, builder: Any, kind: Any, lent: Lent, record: Any) -> Any:
    return cgutils.alloca_once_value(builder, record)


@unbox(Lent)
def _unbox(lent: Lent, record: Any, c: Any) -> Any:
    """Field by field, each where it is to stand: Numba copies all of them twice, which is most of a short loop."""
    address = cgutils.alloca_once(c.builder, c.context.get_value_type(lent.record))
    is_error = _take_fields(lent.record, record, address, c)
    with cgutils.if_unlikely(c.builder, is_error):
        c.pyapi.err_set_string("PyExc_TypeError", f"not what {lent.record.instance_class.__name__} was compiled for")
    return NativeValue(address, is_error=is_error, cleanup=lambda: _give_back(lent.record, address, c))


def _take_fields(record_kind: Any, record: Any, address: Any, c: Any) -> Any:
    """Whether one of them cannot be taken."""
    is_error = cgutils.false_bit
    for at, kind in enumerate(record_kind.types):
        field, place = c.pyapi.tuple_getitem(record, at), cgutils.gep_inbounds(c.builder, address, 0, at)
        if isinstance(kind, types.BaseNamedTuple):
            failed = _take_fields(kind, field, place, c)
        elif isinstance(kind, types.Array):
            adapt = c.pyapi.nrt_adapt_ndarray_from_python if c.context.enable_nrt else c.pyapi.numba_array_adaptor
            failed = cgutils.is_not_null(c.builder, adapt(field, c.builder.bitcast(place, cgutils.voidptr_t)))
        else:
            native = c.unbox(kind, field)
            c.builder.store(native.value, place)
            failed = native.is_error
        is_error = c.builder.or_(is_error, failed)
    return is_error


def _give_back(record_kind: Any, address: Any, c: Any) -> None:
    for at, kind in enumerate(record_kind.types if c.context.enable_nrt else ()):
        place = cgutils.gep_inbounds(c.builder, address, 0, at)
        if isinstance(kind, types.BaseNamedTuple):
            _give_back(kind, place, c)
        elif isinstance(kind, types.Array):
            c.context.nrt.decref(c.builder, kind, c.builder.load(place))


class _Lower(Lower):
    """Numba's own, but for numbers of arrays, which is most of what loops do."""

    def alloca_lltype(self, name: str, lltype: Any, datamodel: Any = None) -> Any:
        """Numba asks LLVM for the size, each time, for debuggers."""
        return cgutils.alloca_once(self.builder, lltype, name=name)

    def lower_getitem(self, resty: Any, expr: Any, value: Any, index: Any, signature: Any) -> Any:
        """Read a number."""
        place = self._find_place(value, index)
        if place is None:
            return super().lower_getitem(resty, expr, value, index, signature)
        kind = self.typeof(value.name).dtype
        return self.context.cast(self.builder, self.context.unpack_value(self.builder, kind, place), kind, resty)

    def lower_setitem(self, target_var: Any, index_var: Any, value_var: Any, signature: Any) -> Any:
        """Write a number."""
        place = self._find_place(target_var, index_var)
        if place is None:
            return super().lower_setitem(target_var, index_var, value_var, signature)
        kind, value = self.typeof(target_var.name).dtype, self.loadvar(value_var.name)
        for before, after in ((self.typeof(value_var.name), signature.args[2]), (signature.args[2], kind)):
            value = self.context.cast(self.builder, value, before, after)
        return self.context.pack_value(self.builder, kind, value, place)

    def _find_place(self, array: Any, index: Any) -> Any:
        """The address of a number in an array, None where Numba has to find it."""
        kind, index_kind = self.typeof(array.name), self.typeof(index.name)
        kinds = tuple(index_kind) if isinstance(index_kind, types.BaseTuple) else (index_kind,)
        is_plain = isinstance(kind, types.Array) and kind.layout == "C" and kind.aligned and kind.ndim == len(kinds)
        is_number = is_plain and isinstance(kind.dtype, types.Integer | types.Float | types.Boolean)
        is_whole = all(isinstance(each, types.Integer) for each in kinds)
        if not is_number or not is_whole or self.context.enable_boundscheck:
            return None
        builder, value, number = self.builder, self.loadvar(array.name), self.loadvar(index.name)
        fields = self.context.data_model_manager[kind]
        shape = cgutils.unpack_tuple(builder, fields.get(builder, value, "shape"), kind.ndim)
        numbers = cgutils.unpack_tuple(builder, number, kind.ndim) if kinds != (index_kind,) else [number]
        place = None
        for each, number, size in zip(kinds, numbers, shape, strict=True):
            at = fix_integer_index(self.context, builder, each, number, size)
            place = at if place is None else builder.add(builder.mul(place, size), at)
        return builder.gep(fields.get(builder, value, "data"), [place])


@register_pass(mutates_CFG=True, analysis_only=False)
class Lowering(NativeLowering):
    """Takes the place of Numba's own."""

    _name = "setveil_lowering"

    @property
    def lowering_class(self) -> type[Lower]:
        """What does it."""
        return _Lower

    def run_pass(self, state: Any) -> bool:
        """A loop that makes nothing has nothing to count and nothing to give back."""
        if _makes_nothing(state):
            state.targetctx = state.targetctx.subtarget(enable_nrt=False)
            for block in state.func_ir.blocks.values():
                block.body = [each for each in block.body if not isinstance(each, ir.Del)]
        return bool(super().run_pass(state))


def _makes_nothing(state: Any) -> bool:
    """Whether all arrays that a loop ever has are those that it was given, or parts of them."""

    def is_counted(variable: Any) -> bool:
        return _is_counted(state, state.typemap[variable.name])

    def only_looks(assignment: Any) -> bool:
        value = assignment.value
        if not isinstance(value, ir.Expr):
            return not isinstance(value, ir.Yield)
        if value.op == "call":
            function = state.typemap[value.func.name]
            if isinstance(function, types.NamedTupleClass):
                return True
            if isinstance(function, types.BoundFunction) or is_counted(assignment.target):
                return False
            is_harmless = isinstance(function, types.Dispatcher) or getattr(function, "typing_key", None) is len
            return is_harmless or not any(map(is_counted, value.list_vars()))
        if value.op == "getitem":
            return not is_counted(value.index)  # places in a list: a new array
        return value.op in LOOKING or not any(map(is_counted, [assignment.target, *value.list_vars()]))

    assignments = (each for block in state.func_ir.blocks.values() for each in block.find_insts(ir.Assign))
    return not _is_counted(state, state.return_type) and all(map(only_looks, assignments))


def _is_counted(state: Any, kind: Any) -> bool:
    return bool(state.targetctx.data_model_manager[kind].contains_nrt_meminfo())
