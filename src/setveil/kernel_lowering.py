"""From Numba's typed loops to LLVM's, with less to say: a third of what there would be to write, read and optimize.

Arrays that a loop was given are held by whoever calls it: it counts no references to them. A record of arrays (a named
tuple) is handed from loop to loop by its address, not as some hundred numbers.
"""

# mypy: allow-untyped-calls, allow-untyped-decorators
from __future__ import annotations

from collections import defaultdict
from typing import Any, cast

from numba.core import cgutils, ir, types
from numba.core.analysis import compute_cfg_from_blocks, compute_use_defs
from numba.core.compiler_machinery import register_pass
from numba.core.datamodel.models import PrimitiveModel
from numba.core.datamodel.registry import register_default
from numba.core.imputils import lower_cast, lower_getattr_generic
from numba.core.lowering import Lower
from numba.core.typed_passes import NativeLowering
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.np.arrayobj import fix_integer_index

LOOKING = ("getattr", "getiter", "exhaust_iter", "getitem", "static_getitem")  # at something that is there already


class Lent(types.Type):
    """The address of a record that a calling loop holds."""

    def __init__(self, record: Any) -> None:
        self.record = record
        super().__init__(name=f"Lent({record})")


def lend(kind: Any) -> Any:
    """How a value is handed on: records of arrays by address, all others as they are."""
    if isinstance(kind, types.BaseNamedTuple) and _holds_arrays(kind):
        return Lent(kind)
    return kind


def _holds_arrays(kind: Any) -> bool:
    return isinstance(kind, types.Array) or (
        isinstance(kind, types.BaseTuple) and any(map(_holds_arrays, _members(kind)))
    )


def _members(kind: Any) -> tuple[Any, ...]:
    """The types in a tuple; what is no tuple stands for itself."""
    return tuple(cast(Any, kind).types) if isinstance(kind, types.BaseTuple) else (kind,)


@register_default(Lent)
class _LentModel(PrimitiveModel):
    def __init__(self, manager: Any, kind: Lent) -> None:
        super().__init__(manager, kind, manager.lookup(kind.record).get_value_type().as_pointer())


@infer_getattr
class _LentFields(AttributeTemplate):
    key = Lent

    def generic_resolve(self, lent: Lent, name: str) -> Any:  # type: ignore[override]
        """The type of a field."""
        return lend(lent.record.types[lent.record.fields.index(name)])


@lower_getattr_generic(Lent)
def _look_up(context: Any, builder: Any, kind: Lent, address: Any, name: str) -> Any:
    at = kind.record.fields.index(name)
    field = cgutils.gep_inbounds(builder, address, 0, at)
    return field if isinstance(lend(kind.record.types[at]), Lent) else builder.load(field)


@lower_cast(types.BaseNamedTuple, Lent)
def _lend(context: Any, builder: Any, kind: Any, lent: Lent, record: Any) -> Any:
    return cgutils.alloca_once_value(builder, record)


class _Lower(Lower):
    """Numba's own, for loops that do not own what they were given."""

    def setup_function(self, fndesc: Any) -> None:
        """Nobody changes a record while a loop looks at it."""
        super().setup_function(fndesc)
        arguments = zip(fndesc.args, fndesc.argtypes, strict=True)
        lent = {f"arg.{name}" for name, kind in arguments if isinstance(kind, Lent)}
        for argument in self.call_conv.get_arguments(self.function):
            if argument.name in lent:
                for attribute in ("noalias", "nonnull", "captures(none)"):
                    argument.add_attribute(attribute)

    def pre_lower(self) -> None:
        """Variables that are assigned to once are no places in memory."""
        super().pre_lower()
        values: dict[str, list[Any]] = defaultdict(list)
        for block in self.blocks.values():
            for each in block.find_insts(ir.Assign):
                values[each.target.name].append(each.value)
        self._given = {
            name: found[0].index for name, found in values.items() if len(found) == 1 and isinstance(found[0], ir.Arg)
        }
        self._uncounted = self.context.subtarget(enable_nrt=False)
        self._lent: dict[str, Any] = {}
        self._borrowed = self._find_borrowed(values)
        self._held = {name for name in values if self._is_counted(self.typeof(name))} - self._borrowed
        once = {name for name, found in values.items() if len(found) == 1} - self._held
        self._singly_assigned_vars |= once - self._find_late()

    def lower_inst(self, inst: Any) -> None:
        """What is borrowed is neither taken nor given back."""
        if isinstance(inst, ir.Del):
            if inst.value in self._held:
                super().lower_inst(inst)
            return
        if not isinstance(inst, ir.Assign) or inst.target.name not in self._borrowed:
            super().lower_inst(inst)
            return
        counted, self.context = self.context, self._uncounted
        try:
            super().lower_inst(inst)
        finally:
            self.context = counted

    def _find_late(self) -> set[str]:
        """Variables that may be used where they are not assigned, or that are written down later than that."""
        before = compute_cfg_from_blocks(self.blocks).dominators()
        uses = compute_use_defs(self.blocks)
        home = {name: at for at, names in uses.defmap.items() for name in names}
        return {
            name
            for at, names in uses.usemap.items()
            for name in names
            if home.get(name, at) >= at or home[name] not in before[at]
        }

    def create_cpython_wrapper(self, release_gil: bool = False) -> None:
        """Python holds the arguments of its calls; only results are handed over."""
        if not self._is_counted(self.fndesc.restype):
            self.context = self._uncounted
        super().create_cpython_wrapper(release_gil)

    def lower_getitem(self, resty: Any, expr: Any, value: Any, index: Any, signature: Any) -> Any:
        """Numbers of arrays, which is most of what loops do."""
        place = self._find_place(value, index)
        if place is None:
            return super().lower_getitem(resty, expr, value, index, signature)
        number = self.context.unpack_value(self.builder, self.typeof(value.name).dtype, place)
        return self.context.cast(self.builder, number, self.typeof(value.name).dtype, resty)

    def lower_setitem(self, target_var: Any, index_var: Any, value_var: Any, signature: Any) -> Any:
        """The same."""
        place = self._find_place(target_var, index_var)
        if place is None:
            return super().lower_setitem(target_var, index_var, value_var, signature)
        kind = self.typeof(target_var.name).dtype
        value = self.context.cast(
            self.builder, self.loadvar(value_var.name), self.typeof(value_var.name), signature.args[2]
        )
        value = self.context.cast(self.builder, value, signature.args[2], kind)
        return self.context.pack_value(self.builder, kind, value, place)

    def _find_place(self, array: Any, index: Any) -> Any:
        """The address of a number in an array, None where Numba has to find it."""
        kind, index_kind = self.typeof(array.name), self.typeof(index.name)
        kinds = _members(index_kind)
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

    def _cast_var(self, var: Any, ty: Any) -> Any:
        """Records that came as numbers are put down once."""
        name = getattr(var, "name", None)
        if not isinstance(ty, Lent) or name not in self._given or isinstance(self.typeof(name), Lent):
            return super()._cast_var(var, ty)
        if name not in self._lent:
            record = self.fnargs[self._given[name]]
            self._lent[name] = cgutils.alloca_once(self.builder, record.type)
            with self.builder.goto_block(self.entry_block):
                self.builder.store(record, self._lent[name])
        return self._lent[name]

    def _find_borrowed(self, values: dict[str, list[Any]]) -> set[str]:
        """Variables that only ever hold (parts of) arguments and constants and are not returned."""
        ends = [block.terminator for block in self.blocks.values()]
        returned = {end.value.name for end in ends if isinstance(end, ir.Return)}
        found = {name for name in values if name not in returned and self._is_counted(self.typeof(name))}
        while True:
            kept = {name for name in found if all(self._is_borrowed(value, found) for value in values[name])}
            if kept == found:
                return found
            found = kept

    def _is_borrowed(self, value: Any, borrowed: set[str]) -> bool:
        if isinstance(value, ir.Yield) or (isinstance(value, ir.Expr) and not self._only_looks(value)):
            return False
        used = [value] if isinstance(value, ir.Var) else value.list_vars() if isinstance(value, ir.Expr) else []
        return all(each.name in borrowed or not self._is_counted(self.typeof(each.name)) for each in used)

    def _only_looks(self, expression: ir.Expr) -> bool:
        """Whether it gives a part of what it was given, and makes nothing."""
        if expression.op in ("build_tuple", "cast"):
            return True
        if expression.op not in LOOKING:
            return False
        kind = self.typeof(expression.value.name)
        if isinstance(kind, types.Array) and expression.op.endswith("getitem"):
            index: Any = self.typeof(
                (expression.index_var if expression.op == "static_getitem" else expression.index).name
            )
            return all(isinstance(each, types.Integer | types.SliceType) for each in _members(index))
        if isinstance(kind, types.Array):
            return bool(expression.op == "getiter")
        return isinstance(kind, types.BaseTuple | Lent)

    def _is_counted(self, kind: Any) -> bool:
        return bool(self.context.data_model_manager[kind].contains_nrt_meminfo())


@register_pass(mutates_CFG=True, analysis_only=False)
class Lowering(NativeLowering):
    """Takes the place of Numba's own."""

    _name = "setveil_lowering"

    @property
    def lowering_class(self) -> type[Lower]:
        """What does it."""
        return _Lower
