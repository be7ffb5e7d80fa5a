"""``np.empty``, ``np.zeros`` and ``np.full`` in compiled loops, written out where they stand.

Numba compiles a function for each of them, for every type and number of dimensions, and others for what that one calls:
fifty in a first run.
"""

from __future__ import annotations

from inspect import Parameter, Signature
from typing import Any

import numpy as np
from numba.core import cgutils, types
from numba.core.imputils import impl_ret_new_ref, lower_builtin
from numba.core.typing.npydecl import parse_dtype, parse_shape
from numba.core.typing.templates import signature
from numba.np.arrayobj import _empty_nd_impl, _parse_shape, store_item


def _takes(*names: str) -> Signature:
    return Signature([Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in names])


ASKS: dict[Any, Signature] = {
    np.empty: _takes("shape", "dtype"),
    np.zeros: _takes("shape", "dtype"),
    np.full: _takes("shape", "fill_value", "dtype"),
}


def sign_array(function: Any, arguments: Any, named: Any) -> Any:
    """The signature of a call that makes an array; None for all other calls, which are Numba's, and those without a
    type.
    """
    make: Any = getattr(function, "typing_key", None)
    if make not in ASKS or len(arguments) + len(named) != len(ASKS[make].parameters):
        return None
    if not named.keys() <= ASKS[make].parameters.keys():
        return None
    given = tuple(types.unliteral(kind) for kind in ASKS[make].bind(*arguments, **named).args)
    n_dimensions, kind = parse_shape(given[0]), parse_dtype(given[-1])
    if not n_dimensions or not isinstance(kind, types.Number | types.Boolean):
        return None
    function._impl_keys[given] = f"setveil.{make.__name__}"
    return signature(types.Array(kind, n_dimensions, "C"), *given).replace(pysig=ASKS[make])


@lower_builtin("setveil.empty", types.Any, types.Any)
def _make_empty(context: Any, builder: Any, call: Any, given: Any) -> Any:
    return impl_ret_new_ref(context, builder, call.return_type, _make(context, builder, call, given)._getvalue())


@lower_builtin("setveil.zeros", types.Any, types.Any)
def _make_zeros(context: Any, builder: Any, call: Any, given: Any) -> Any:
    array = _make(context, builder, call, given)
    cgutils.memset(builder, array.data, builder.mul(array.itemsize, array.nitems), 0)
    return impl_ret_new_ref(context, builder, call.return_type, array._getvalue())


@lower_builtin("setveil.full", types.Any, types.Any, types.Any)
def _make_full(context: Any, builder: Any, call: Any, given: Any) -> Any:
    array, kind = _make(context, builder, call, given), call.return_type
    value = context.cast(builder, given[1], call.args[1], kind.dtype)
    with cgutils.for_range(builder, array.nitems) as loop:
        store_item(context, builder, kind, value, builder.gep(array.data, [loop.index]))
    return impl_ret_new_ref(context, builder, kind, array._getvalue())


def _make(context: Any, builder: Any, call: Any, given: Any) -> Any:
    shape = _parse_shape(context, builder, call.args[0], given[0])
    return _empty_nd_impl(context, builder, call.return_type, shape)
