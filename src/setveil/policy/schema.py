"""Everything a data owner decides, in one TOML file: the same for command line, library and web page.

    schema = 1
    seed = 0

    [model]                     # the privacy model and its parameters
    name = "km"
    k = 5
    m = 2

    [algorithm]                 # optional: the model's default otherwise
    name = "aa"
    [algorithm.options]
    tree_order = "frequency"

    [hierarchy]                 # for algorithms that need one
    source = "taxonomy.csv"     # a file (relative to this one; also edges:FILE or columns:LEAF,…,TOP:FILE), fanout:5,
                                # levels:4, prefix:1,3, icd10 or another code system, or auto
    unknown_items = "error"     # or "root"

    [input]                     # only where detection is not enough
    format = "long"

    [columns.age]               # role of a column: person, item, known, sensitive, carry or drop
    role = "known"
    hierarchy = "bands:5,10,20" # of a known column: bands, date, prefix, flat or a file

    [output]
    to = "jsonl"
    names = "icd10.csv"         # code,description: codebook and reports show the descriptions beside codes

    [about]                     # for the internal report; what is missing becomes a line to fill in by hand
    title = "Visits 2025"
    date = "2026-11-16"
    responsible = "Data office"
    purpose = "teaching"
    conditions = ["Delete after two years"]   # and confirmed = [...], the statements of the assessment that are true

    [assessment]                # for the lights and the assessment
    profile = "ema-0070"        # or a threshold of one's own: a share such as 0.05, or a number of people
    environment = "public"      # or "agreement", "secure"
    recipient = "University of …"

Unknown keys are errors. Relative paths are relative to the file.
"""

from __future__ import annotations

import os
import re
import stat
import tomllib
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tomli_w
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PrivateAttr,
    ValidationError,
    create_model,
)
from pydantic_core import PydanticCustomError

from setveil.core.text_files import open_text
from setveil.errors import InputError, one_line
from setveil.io.formats.registry import FORMATS, WRITTEN
from setveil.io.hierarchies.sources import is_built_hierarchy, with_file
from setveil.io.hierarchies.values import is_built
from setveil.io.options import READING, ReadingOption
from setveil.io.roles import OLDER, OPTION_OF, Roles, as_options
from setveil.models import MODELS, PARAMETERS, check_written, parameters_of
from setveil.models.parameters import plain_number

UNWRITABLE = re.compile("[\0\ud800-\udfff]")
MOST_DIGITS = "whole numbers have at most 18 digits"
FILE_OPTIONS = ("weights", "penalty")  # of algorithms: a file, or plain numbers


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class _ModelSection(_Section):
    """The privacy model and what was said about its parameters."""

    name: str

    def given(self) -> dict[str, Any]:
        """The parameters that were given, as they were written: lists may be the names of files."""
        return self.model_dump(exclude={"name"}, exclude_none=True)


if TYPE_CHECKING:
    ModelSection = _ModelSection
else:  # the parameters of all models; which of them apply, and their ranges, the model says
    _FIELDS = dict.fromkeys(PARAMETERS, (Any, None))
    ModelSection = create_model("ModelSection", __base__=_ModelSection, **_FIELDS)


class AlgorithmSection(_Section):
    """How the guarantee is reached."""

    name: str | None = None
    options: Annotated[dict[str, Any], BeforeValidator(lambda given: _plain(given, "options"))] = Field(
        default_factory=dict
    )


class HierarchySection(_Section):
    """The generalization hierarchy."""

    source: str | None = None
    unknown_items: Literal["error", "root"] = "error"


def _one_of(words: Collection[str]) -> Any:
    """One of some words that are only known when the program runs."""

    def check(value: str) -> str:
        if value not in words:
            raise PydanticCustomError("word", "input should be one of {words}", {"words": ", ".join(words)})
        return value

    return Annotated[str, AfterValidator(check)]


def _field_of(option: ReadingOption) -> tuple[Any, Any]:
    if option.is_switch:
        return bool, False
    words = FORMATS if option.name == "format" else option.words
    return (_one_of(words) if words else option.type) | None, None


if TYPE_CHECKING:

    class InputSection(_Section):
        """How to read the input where detection is not enough."""

        domain: str | None = None

    WrittenFormat = str
else:
    InputSection = create_model(
        "InputSection",
        __base__=_Section,
        __doc__="How to read the input where detection is not enough.",
        **{name: _field_of(option) for name, option in READING.items() if not option.is_role},
        domain=(str | None, None),  # a file with one item per line: every item that could occur
    )
    WrittenFormat = _one_of(WRITTEN)


if TYPE_CHECKING:
    Role = str
else:
    Role = _one_of(OPTION_OF)


class ColumnSection(_Section):
    """What a column is."""

    role: Role
    hierarchy: str | None = None


class OutputSection(_Section):
    """How to write the release."""

    to: WrittenFormat | None = None
    keep_order: bool = False
    keep_ids: bool = False
    publish_constraints: bool = False
    accept_guessable: bool = False  # publish groups whose sensitive records can be guessed
    safe_csv: bool = False
    item_counts: bool = True  # exact counts of generalized items, where they are safe
    names: str | None = None  # a list of codes with descriptions, for codebook and reports


class AboutSection(_Section):
    """What the decision is about; it is shown in the internal report and nowhere else."""

    title: str | None = None
    date: str | None = None  # as text: a run never looks at the clock, so that it can be repeated byte by byte
    responsible: str | None = None
    purpose: str | None = None
    reason: str | None = None  # why a release with a red light is handed over
    conditions: list[str] | None = None  # further conditions of the owner, for the assessment
    confirmed: list[str] | None = None  # assumptions and conditions of the assessment that somebody has confirmed


class AssessmentSection(_Section):
    """Which threshold the release is compared with, and who receives it; for the lights and the assessment."""

    profile: str | float | None = None  # a name, a share such as 0.05, or a number of people
    environment: Literal["public", "agreement", "secure"] | None = None
    recipient: str | None = None


class Policy(_Section):
    """The decisions of a data owner, from one TOML file.

    Examples:
        >>> import setveil as sv
        >>> policy = sv.Policy.from_dict({"schema": 1, "model": {"name": "km", "k": 5, "m": 2}})
        >>> policy.model.name
        'km'
    """

    schema_version: Literal[1] = Field(1, alias="schema")  # files must say it
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 0
    model: ModelSection
    algorithm: AlgorithmSection = AlgorithmSection()
    hierarchy: HierarchySection = HierarchySection()
    input: InputSection = InputSection()
    columns: dict[str, ColumnSection] = Field(default_factory=dict)
    output: OutputSection = OutputSection()
    about: AboutSection = AboutSection()
    assessment: AssessmentSection = AssessmentSection()
    _file: Path | None = PrivateAttr(None)

    @classmethod
    def from_file(cls, path: str | Path) -> Policy:
        """Read and check a policy; paths in it become relative to the current folder.

        Examples:
            >>> text = sv.Policy(model={"name": "km", "k": 5, "m": 2}).to_toml()
            >>> with open("policy.toml", "w") as file:
            ...     _ = file.write(text)
            >>> sv.Policy.from_file("policy.toml").seed
            0
        """
        where = Path(path)
        return cls.from_dict(read_toml(where), where)

    @classmethod
    def from_dict(cls, content: dict[str, Any], where: Path | None = None) -> Policy:
        """Check a policy given as nested dictionaries.

        Examples:
            >>> sv.Policy.from_dict({"schema": 1, "model": {"name": "km", "k": 5, "m": 2}}).model.name
            'km'
        """
        name = str(where) if where else "policy"
        _refuse_unwritable(content, name)
        if "schema" not in content:
            raise InputError(f"{name}: `schema = 1` is missing; add it as the first line.")
        try:
            policy = cls.model_validate(content)
            check_written(policy.model.name, policy.model.given())
            policy._check_columns()
        except ValidationError as problem:
            raise InputError(_first_problem(problem, str(where or ""))) from None
        except InputError as problem:
            raise InputError(f"{name}: {problem}" if where else str(problem)) from None
        return policy if where is None else policy._with_paths(lambda path: _relative_to(where, path)).read_from(where)

    def __eq__(self, other: object) -> bool:
        """Whether both say the same, wherever they were read from."""
        return isinstance(other, Policy) and self.model_dump() == other.model_dump()

    @property
    def file(self) -> Path | None:
        """The file that the policy was read from."""
        return self._file

    def read_from(self, file: Path | None) -> Policy:
        """The same policy, which knows its file."""
        policy = self.model_copy()
        policy._file = file
        return policy

    def _check_columns(self) -> None:
        older = [name for name in OLDER if getattr(self.input, name) is not None]
        if self.columns and older:
            raise InputError(
                f"`[input] {older[0]}` and `[columns]` both state roles of columns; state all of them in `[columns]`."
            )
        tables = self._tables()
        Roles.of(as_options(tables)).checked(None, ())

    def _tables(self) -> dict[str, dict[str, Any]]:
        return {name: section.model_dump() for name, section in self.columns.items()}

    def reading(self) -> dict[str, Any]:
        """How to read the input: the options of ``read``."""
        given = self.input.model_dump(exclude={"domain"}, exclude_none=True, exclude_defaults=True)
        return {**given, **as_options(self._tables())}

    def seen_from(self, folder: Path) -> Policy:
        """The same policy with its relative paths, which start at the current folder, rewritten to start at
        ``folder``.
        """
        return self._with_paths(lambda path: os.path.relpath(path, folder))

    def _with_paths(self, change: Callable[[str], str]) -> Policy:
        given = self.model.given()
        known = parameters_of(MODELS[self.model.name])
        changed = {n: change(v) for n, v in given.items() if isinstance(v, str) and known[n].kind.is_list}
        source, domain, names = self.hierarchy.source, self.input.domain, self.output.names
        if source and not is_built_hierarchy(source):
            source = with_file(source, change)
        options = {
            name: change(value) if name in FILE_OPTIONS and _is_path(value) else value
            for name, value in self.algorithm.options.items()
        }
        return self.model_copy(
            update={
                "algorithm": self.algorithm.model_copy(update={"options": options}),
                "model": self.model.model_copy(update=changed),
                "hierarchy": self.hierarchy.model_copy(update={"source": source}),
                "input": self.input.model_copy(update={"domain": change(domain) if domain else None}),
                "output": self.output.model_copy(update={"names": change(names) if names else None}),
                "columns": {
                    name: section.model_copy(update={"hierarchy": change(section.hierarchy)})
                    if section.hierarchy and not is_built(section.hierarchy)
                    else section
                    for name, section in self.columns.items()
                },
            }
        )

    def to_toml(self) -> str:
        """The policy as TOML, without defaults.

        Examples:
            >>> print(sv.Policy(model={"name": "km", "k": 5, "m": 2}).to_toml().splitlines()[0])
            schema = 1
        """
        content = self.model_dump(exclude_defaults=True, exclude_none=True, by_alias=True)
        content["schema"] = self.schema_version
        return tomli_w.dumps(content)


def read_toml(path: Path) -> dict[str, Any]:
    """The content of a TOML file."""
    if path.is_dir():
        raise InputError(f"{path}: is a folder; name the policy file in it, as in {path / 'policy.toml'}.")
    with open_text(path) as file:
        text = file.read()
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        raise InputError(f"{path}: is not TOML: {problem}.") from None
    except RecursionError:
        raise InputError(f"{path}: is nested too deeply.") from None
    except ValueError:  # of int(), which takes 4,300 digits
        raise InputError(f"{path}: a number has thousands of digits; {MOST_DIGITS}.") from None
    _refuse_unwritable(content, str(path))
    return content


def _refuse_unwritable(value: Any, name: str, place: str = "") -> None:
    """Whole numbers beyond 64 bits and NUL characters: no other reader of TOML takes them, and no item has them."""
    if isinstance(value, Mapping):
        for key, part in value.items():
            _refuse_unwritable(str(key), name, place)
            _refuse_unwritable(part, name, f"{place}.{key}" if place else str(key))
    elif isinstance(value, list | tuple):
        for part in value:
            _refuse_unwritable(part, name, place)
    elif isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise InputError(f"{name}: `{one_line(place)}`: the number is too large; {MOST_DIGITS}.")
    elif isinstance(value, str) and UNWRITABLE.search(value):
        raise InputError(
            f"{name}: `{one_line(place)}`: the text has a NUL or an incomplete Unicode character; remove it."
        )


def _plain(value: Any, name: str) -> Any:
    """Values of options as TOML writes them: text, truth values, numbers, and tables of them; ``None``: not given."""
    value = plain_number(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(part, str(key)) for key, part in value.items() if part is not None}
    if isinstance(value, str | bool | int | float):
        return value
    raise ValueError(f'"{name}" should be text, a number, true or false, or a table of them')


def _relative_to(where: Path, path: str) -> str:
    """A path that a policy names, from the current folder; what is there must be a regular file."""
    found = where.parent / path
    try:
        mode = found.stat().st_mode
    except (OSError, ValueError):  # opening it says what is wrong
        return str(found)
    if not stat.S_ISREG(mode):
        raise InputError(f"{where}: {one_line(path)} is not a regular file; use the path of a file.")
    return str(found)


def _is_path(value: Any) -> bool:
    """Whether an option that may be a file or a number is a file."""
    try:
        float(value)
    except ValueError:
        return isinstance(value, str)
    except TypeError:
        return False
    return False


_TYPE_NAMES = ("int", "str", "float", "literal")


def _first_problem(problem: ValidationError, where: str) -> str:
    """The first problem in words: with its place in the file, or, without a file, with the option."""
    first = problem.errors(include_url=False)[0]
    # Alternatives of a union add the name of their type to the place; a reader of the file does not know it.
    place = ".".join(str(part) for part in first["loc"] if not str(part).endswith("]") and part not in _TYPE_NAMES)
    section, _, option = place.rpartition(".")
    if not where and section in ("input", "output", "assessment", "hierarchy"):  # given as an option
        where, place = f"--{option.replace('_', '-')}", ""
    before = f"{where} " if where.startswith("--") else f"{where or 'policy'}: "
    if first["type"] == "extra_forbidden":
        return f"{before}unknown key `{place}`; check the spelling."
    if first["type"] == "missing":
        return f"{before}lacks `{place}`."
    what = f"{first['msg'][0].lower()}{first['msg'][1:]}".replace("input should be", "must be")
    given = first["input"]
    shown = f'"{one_line(given)}"' if isinstance(given, str) else one_line(repr(given))
    return f"{before}{f'`{place}` ' if place else ''}{what}, not {shown}."
