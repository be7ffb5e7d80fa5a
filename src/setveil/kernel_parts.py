"""Loops that other compiled loops call: typed and lowered once, made into machine code only as part of their callers.

Numba would optimize each of them, write machine code for it and wrap it for Python, and do the same again in every loop
that calls it: more than half of the time in which a first run compiles.
"""

from __future__ import annotations

from typing import Any

from numba.core import types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.registry import CPUDispatcher


class _Library(JITCodeLibrary):
    """Code that waits for whoever links it in."""

    def _optimize_functions(self, module: Any) -> None:
        """Callers do that, too."""
        module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        """Callers do that."""

    def _finalize_final_module(self) -> None:
        """No machine code."""
        self._finalize_dynamic_globals()
        self._finalized = True


class _PartCompiler(Compiler):
    def define_pipelines(self) -> Any:
        """Numba has noted the flags by now: what it compiles for this loop (``np.empty``) serves all loops."""
        self.state.flags.no_cpython_wrapper = True
        self.state.flags.no_compile = True
        self.state.library = _Library(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
        return super().define_pipelines()


class Part(CPUDispatcher):
    """What Numba makes of a loop that is called by another one (not by itself): one version for all whole numbers with
    a sign.
    """

    def __init__(self, loop: Any, options: dict[str, bool]) -> None:
        super().__init__(loop, targetoptions=dict(options), pipeline_class=_PartCompiler)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Constants and short integers are called like all others."""
        return super().get_call_template(tuple(map(_widened, args)), kws)

    def add_overload(self, compiled: Any) -> None:
        """Nobody calls it but loops that are compiled, which find it by its entry point."""
        key = _Entry()
        compiled = compiled._replace(entry_point=key)
        self.targetctx.insert_user_function(key, compiled.fndesc, [compiled.library])
        self.overloads[tuple(compiled.signature.args)] = compiled


class _Entry:
    """Stands for the address of a loop."""


def _widened(kind: Any) -> Any:
    kind = types.unliteral(kind)
    return types.int64 if kind in types.signed_domain else kind
