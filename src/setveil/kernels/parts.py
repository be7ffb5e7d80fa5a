"""Loops that other compiled loops call: typed and lowered once, made into machine code only as part of their callers.

Numba would optimize each of them, write machine code for it and wrap it for Python, and do the same again in every loop
that calls it: more than half of the time in which a first run compiles.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from inspect import iscode
from typing import Any

from numba.core import typed_passes, types, untyped_passes
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.registry import CPUDispatcher
from numba.core.types.functions import BaseFunction

from setveil.kernels.arrays import sign_array
from setveil.kernels.lowering import Lowering, lend

UNNEEDED = {  # passes, for closures, ``with``, literals to unroll, branches that types decide, array expressions
    untyped_passes.WithLifting,
    untyped_passes.InlineClosureLikes,
    untyped_passes.RewriteSemanticConstants,
    untyped_passes.RewriteDynamicRaises,
    untyped_passes.MakeFunctionToJitFunction,
    untyped_passes.InlineInlinables,
    untyped_passes.DeadBranchPrune,
    untyped_passes.FindLiterallyCalls,
    untyped_passes.LiteralUnroll,
    untyped_passes.LiteralPropagationSubPipelinePass,
    typed_passes.InlineOverloads,
    typed_passes.NopythonRewrites,
    typed_passes.NoPythonSupportedFeatureValidation,
    typed_passes.AnnotateTypes,
    typed_passes.DumpParforDiagnostics,
}

_find_signature = BaseFunction.get_call_type
_found: dict[tuple[Any, Any], Any] = {}  # signatures of operators on numbers and arrays


class _Library(JITCodeLibrary):
    """Code that is optimized when all that belongs to it is there."""

    def add_linking_library(self, library: Any) -> None:
        """What a part needs, its callers need."""
        super().add_linking_library(library)
        if isinstance(library, _PartLibrary):
            self._linking_libraries += library._linking_libraries

    def _optimize_functions(self, module: Any) -> None:
        """Not yet."""
        module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        """Once, not three times; loops full of branches gain nothing from trying to do several turns at a time."""
        passes, builder = self._codegen._module_pass_manager(opt=2, loop_vectorize=False)
        passes.run(self._final_module, builder)


class _PartLibrary(_Library):
    """Code that waits for whoever links it in."""

    def finalize(self) -> None:
        """No machine code."""
        self._finalize_dynamic_globals()
        for function in self._final_module.functions:
            if not function.is_declaration:
                function.linkage = "linkonce_odr"
        self._finalized = True

    def _get_module_for_linking(self) -> Any:
        return self._final_module


class KernelCompiler(Compiler):
    """Numba's own, with our lowering, and without what plain loops do not need."""

    library_class = _Library

    def define_pipelines(self) -> Any:
        """Numba has noted the flags by now: what it compiles for this loop (``np.empty``) serves all loops."""
        self.state.library = self.library_class(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
        self.state.library.enable_object_caching()
        (pipeline,) = super().define_pipelines()
        has_closures = any(map(iscode, self.state.func_id.code.co_consts))
        pipeline.passes = [
            (Lowering if made is typed_passes.NativeLowering else made, why)
            for made, why in pipeline.passes
            if has_closures or made not in UNNEEDED
        ]
        return [pipeline]

    def _compile_core(self) -> Any:
        with _remembering():
            return super()._compile_core()


class _PartCompiler(KernelCompiler):
    library_class = _PartLibrary

    def define_pipelines(self) -> Any:
        """A loop that nobody else calls."""
        self.state.flags.no_cpython_wrapper = True
        self.state.flags.no_compile = True
        return super().define_pipelines()


@contextmanager
def _remembering() -> Iterator[None]:
    """Numba looks for the signature of ``+`` anew wherever it stands, twice; while our loops are compiled it does not.

    It compiles one loop at a time.
    """
    before, BaseFunction.get_call_type = BaseFunction.get_call_type, _remember_signature
    try:
        yield
    finally:
        BaseFunction.get_call_type = before


def _remember_signature(function: Any, context: Any, arguments: Any, named: Any) -> Any:
    made = sign_array(function, arguments, named)
    if made is not None:
        return made
    if named or not all(isinstance(kind, types.Number | types.Boolean | types.Array) for kind in arguments):
        return _find_signature(function, context, arguments, named)
    key = function, arguments
    if key not in _found:
        _found[key] = _find_signature(function, context, arguments, named)
    return _found[key]


class Whole(CPUDispatcher):
    """What Numba makes of a loop that Python calls."""

    def __init__(self, loop: Any, options: dict[str, bool]) -> None:
        super().__init__(loop, targetoptions=dict(options), pipeline_class=KernelCompiler)

    def typeof_pyval(self, value: Any) -> Any:
        """Records are lent by Python, too."""
        return lend(super().typeof_pyval(value))


class Part(CPUDispatcher):
    """What Numba makes of a loop that is called by another one (not by itself): one version for all whole numbers with
    a sign.
    """

    def __init__(self, loop: Any, options: dict[str, bool]) -> None:
        super().__init__(loop, targetoptions=dict(options), pipeline_class=_PartCompiler)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Constants and short integers are called like all others."""
        return super().get_call_template(tuple(map(_handed_on, args)), kws)

    def add_overload(self, compiled: Any) -> None:
        """Nobody calls it but loops that are compiled, which find it by its entry point."""
        key = _Entry()
        compiled = compiled._replace(entry_point=key)
        self.targetctx.insert_user_function(key, compiled.fndesc, [compiled.library])
        self.overloads[tuple(compiled.signature.args)] = compiled


class _Entry:
    """Stands for the address of a loop."""


def _handed_on(kind: Any) -> Any:
    kind = types.unliteral(kind)
    return types.int64 if kind in types.signed_domain else lend(kind)
