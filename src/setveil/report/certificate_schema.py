"""Which fields a certificate has, and what they may hold; everything else is refused."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from setveil.errors import UncheckedError, one_line
from setveil.models import MODELS
from setveil.plugins import package_of
from setveil.report.profiles import LARGEST_K
from setveil.report.words import ACHIEVED, PUBLIC_METRICS

# 2: sentences in the words of the glossary, risk of the worst attacker. If a certificate has this number, its sentences
# and figures are compared with those of this version; so whatever changes them changes the number.
SCHEMA = 2
FIRST_OF_SCHEMA_2 = (0, 2)  # version
MOST_RECORDS = 2**40
MOST_SENTENCES = 50

FileName = Annotated[str, Field(min_length=1, max_length=100, pattern=r"^(published/)?[A-Za-z0-9][A-Za-z0-9.+_-]*$")]
Name = Annotated[str, Field(min_length=1, max_length=100, pattern=r"^[A-Za-z0-9][A-Za-z0-9.+_-]*$")]
Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Sentence = Annotated[str, Field(min_length=1, max_length=1000)]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Number = Annotated[int, Field(ge=0, le=MOST_RECORDS)]
Figure = Annotated[int, Field(ge=-(2**63), lt=2**63)] | Annotated[float, Field(allow_inf_nan=False)]


class _Strict(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")


class _Model(_Strict):
    name: Name
    options: dict[str, Any]  # checked by the model itself


class _Algorithm(_Strict):
    name: Name
    package: Name = "setveil"  # written only where it is another one


class _Layout(_Strict):
    name: Name  # of a format that may be another package's
    delimiter: Annotated[str, Field(min_length=1, max_length=1)]
    id_column: Annotated[str, Field(max_length=1000)]
    item_column: Annotated[str, Field(max_length=1000)]
    long: bool


ColumnName = Annotated[str, Field(min_length=1, max_length=1000)]


class _Column(_Strict):
    name: ColumnName
    role: Literal["known", "sensitive", "carry"]


class _Release(_Strict):
    kind: Literal["recoding", "local-recoding", "replacement", "grouping", "count-table"]
    published: Name
    layout: _Layout
    suppression: bool
    safe_csv: bool
    columns: Annotated[list[_Column], Field(min_length=1, max_length=1000)] | None = None  # missing without columns
    generator: Annotated[int, Field(ge=1, le=1_000_000)] | None = None  # of tables of counts: what made their records
    repaired: bool | None = None  # of tables of counts: sets were suppressed because they revealed a small count
    triples_from: Annotated[int, Field(ge=0)] | None = None  # of these: triples are listed from this count on
    complete_triples: bool | None = None  # what version 0.3.0 said instead: from k on, or only some


class _RiskRow(_Strict):
    known: Number
    n_records: Number
    share_of_records: Share
    singled_out: Share | None
    mean_inverse_support: Share | None
    max_inverse_support: Share | None
    below_k: Share | None
    exact: bool
    n_targets: Number | None
    singled_out_interval: list[Share] | None
    mean_inverse_support_interval: list[Share] | None
    below_k_interval: list[Share] | None
    note: Annotated[str, Field(max_length=1000)]
    worst_singled_out: Share | None = None  # missing in certificates of earlier versions, as its interval
    worst_singled_out_interval: list[Share] | None = None
    columns: Annotated[list[ColumnName], Field(min_length=1, max_length=1000)] | None = None  # known besides the items


class _Risk(_Strict):
    after: Annotated[list[_RiskRow], Field(max_length=100)]


class _Assessment(_Strict):
    profile: Name
    k: Annotated[int, Field(ge=2, le=LARGEST_K)]
    environment: Literal["public", "agreement", "secure"]


class Certificate(_Strict):
    """``certificate.json``, field by field."""

    setveil: Name
    schema_: Annotated[int, Field(alias="schema", ge=1, le=SCHEMA)]  # a Literal would take 1.0 and true for it
    model: _Model
    guarantee: Sentence
    algorithm: _Algorithm
    release: _Release
    records: Number
    record_order: Literal["canonical", "input"]
    record_ids: bool
    files: dict[FileName, Digest]
    verified: bool
    achieved: dict[Name, Figure]
    metrics: dict[Name, Figure | None]
    risk: _Risk
    not_protected: Annotated[list[Sentence], Field(max_length=MOST_SENTENCES)]
    assessment: _Assessment | None = None  # missing where the owner chose no profile
    digest: Digest


def check_schema(certificate: Mapping[str, Any]) -> list[str]:
    """What is wrong with the form of a certificate, one line each; at most ten.

    Raises:
        UncheckedError: a later version wrote it in a form that this one does not know.
    """
    said = certificate.get("schema")
    if isinstance(said, int) and said > SCHEMA:
        raise UncheckedError(
            f"certificate.json: schema {one_line(str(said))} is from a later version of setveil; this one knows "
            f"schemas 1 to {SCHEMA}. Install the later version."
        )
    try:
        read = Certificate.model_validate(certificate)
    except ValidationError as problem:
        return [
            f"certificate.json: {_where(error['loc'])}: {one_line(error['msg'], 120)}."
            for error in problem.errors(include_url=False, include_context=False, include_input=False)[:10]
        ]
    problems = []
    if read.schema_ != _schema_of(read.setveil):
        problems.append(f"setveil {one_line(read.setveil, 40)} does not write schema {read.schema_}")
    if not read.verified:
        problems.append("verified is not true")
    if "package" in read.algorithm.model_fields_set and read.algorithm.package == "setveil":
        problems.append("algorithm.package is written only where it is not setveil")
    model = MODELS.get(read.model.name)  # None: not installed here, which only the check of the guarantee needs
    achieved = ACHIEVED if model is not None and package_of(model) == "setveil" else read.achieved
    for name, known in (("achieved", achieved), ("metrics", PUBLIC_METRICS)):
        strange = sorted(set(getattr(read, name)) - set(known))
        if strange:
            problems.append(f"there is no figure {name}.{one_line(strange[0])}")
    return [f"certificate.json: {problem}." for problem in problems]


def _schema_of(version: str) -> int:
    """The schema that a version writes: an older schema under a later version would hide what is compared."""
    number = tuple(map(int, re.findall("[0-9]{1,9}", version)[:2]))
    return 1 if re.fullmatch("[0-9.]+", version) and number < FIRST_OF_SCHEMA_2 else SCHEMA


def _where(place: tuple[int | str, ...]) -> str:
    return one_line(".".join(str(part) for part in place), 80)
