"""What every privacy model offers. A model says what must hold; algorithms make it hold; ``verify`` checks it.

Everything that is known about a model without its data stands on its class, so that a new one is one file here, one
verifier and its algorithms: command line, policy, web form, reports and docs are made from it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from math import inf
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Self

from setveil.errors import InputError, name_some
from setveil.models.parameters import Parameter, declared

if TYPE_CHECKING:
    from setveil.core import Dataset


class Attacker(NamedTuple):
    """Whom the guarantee is about, in plain words."""

    knows: str
    wants: str
    gets: str


class Advice(NamedTuple):
    """What to do about a release that is verified and still not good enough, in plain sentences."""

    keep_more: str = "A smaller k, or another model, can keep more."
    protect_more: str = "Choose another model, or a larger k"  # to be followed by ", or …"
    weaker: str = "Choose a smaller k, or another model."
    instead: str = ""  # the same where no entries were suppressed


@dataclass(frozen=True)
class PrivacyModel(ABC):
    """Base class of privacy models: declared parameters, and the guarantee in words.

    ``verifier`` names the function that checks the model from published records, as ``"package.module:check"``:
    ``check(published, model, progress)`` returns a Verdict. Its module may also have ``violations(published, model,
    progress, limit)``, which yields Violations, and ``achieved(published, model, progress)``, which returns exact
    figures.

    Examples:
        >>> import setveil as sv
        >>> isinstance(sv.KmAnonymity(k=5, m=2), sv.PrivacyModel)
        True
    """

    name: ClassVar[str]
    title: ClassVar[str]  # what it is for, in a few words: the choice that the web page offers
    verifier: ClassVar[str]
    example: ClassVar[Mapping[str, Any]]  # parameters that fit a few records over the items 1 … 9; 9 is sensitive
    picture: ClassVar[str] = ""  # the picture of the web page: "crowd", "group", "records", "both" or "pair"
    private: ClassVar[tuple[str, ...]] = ()  # parameters that describe the original: they are not published unasked
    private_name: ClassVar[str] = "lists"  # what they are called in sentences
    asked_with: ClassVar[Mapping[str, Parameter]] = {}  # what a policy may say besides the parameters
    grid: ClassVar[Mapping[str, list[Any]]] = {}  # values that a comparison tries by default; {}: none
    start: ClassVar[Mapping[str, Any]] = {}  # values that the web form begins with; {}: the middle of the grid
    alternatives: ClassVar[tuple[str, ...]] = ()  # other models, and when they fit better
    glossary: ClassVar[Mapping[str, str]] = {}  # the words its reports use
    advice: ClassVar[Advice] = Advice()
    is_about_groups: ClassVar[bool] = False  # it needs groups, which count sensitive items
    is_about_other_items: ClassVar[bool] = False  # it protects something even if no sensitive item is published
    depends_on_suppressed: ClassVar[bool] = False  # whether it is met depends on which items were suppressed
    is_usual: ClassVar[bool] = False  # suggestions begin with it, for data that it suits
    suggested_from: ClassVar[float] = inf  # known items from which suggestions try it, too, with k alone
    # Starts of sentences of ``not_protected``, and the last version whose certificates may lack them.
    later_sentences: ClassVar[Mapping[str, str]] = {}
    suggested_if_dense: ClassVar[bool] = False  # the same where records resemble each other
    shapes_hierarchy: ClassVar[bool] = False  # hierarchies built from the data are chosen by it

    # Known columns: not published ("", they would be outside the guarantee), published unchanged ("public"), or part of
    # the guarantee: people with the same published columns form classes ("class").
    known_columns: ClassVar[Literal["", "public", "class"]] = ""
    generalizes_columns: ClassVar[bool] = False  # its algorithms generalize known columns
    protects_columns: ClassVar[bool] = False  # it protects sensitive columns, too

    already_met: ClassVar[str] = ""  # what to warn of where the data needs no change; empty where that is no slip

    def __post_init__(self) -> None:
        for name, parameter in declared(type(self)).items():
            object.__setattr__(self, name, parameter.kind.check(name, getattr(self, name)))

    @classmethod
    def completed(cls, options: Mapping[str, Any]) -> dict[str, Any]:
        """Parameters as they were given, with those that follow from others."""
        return dict(options)

    def __repr__(self) -> str:
        """As it is made, without lists of itemsets: they may be records."""
        given = {field.name: getattr(self, field.name) for field in fields(self)}
        shown = (f"{name}={_shown(value)}" for name, value in given.items() if value is not None)
        return f"{type(self).__name__}({', '.join(shown)})"

    def options(self) -> dict[str, Any]:
        """Parameters as plain values, for the policy and the certificate."""
        return {field.name: _plain(getattr(self, field.name)) for field in fields(self)}

    @classmethod
    def starting_values(cls) -> dict[str, Any]:
        """Values to begin with: those of ``start``, and the middle of those that a comparison tries."""
        return {**{name: values[len(values) // 2] for name, values in cls.grid.items()}, **cls.start}

    @classmethod
    def suits(cls, has_known_columns: bool) -> bool:
        """Whether to propose it for data with or without known columns."""
        return bool(cls.known_columns) if has_known_columns else not cls.generalizes_columns

    @property
    def crowd(self) -> int | None:
        """The smallest number of records that an attacker cannot tell apart; None if the model has no such number."""
        return None

    @property
    def reach(self) -> float | None:
        """The largest number of known items that the guarantee covers; None if it does not cover all items alike."""
        return None

    @property
    def violated_by(self) -> Literal["combination", "record", "part", "group"]:
        """What in the original violates the guarantee: a combination of items, a whole record, a part of a record of
        which there are too many to list, or a group.
        """
        return "combination"

    @property
    def item_counts(self) -> tuple[int, float] | None:
        """``(k, size)`` where exact counts of generalized items may be published beside a recoding: the smallest count
        that may be shown, and the largest itemset that the guarantee covers. None where that was not proven safe.
        """
        return None

    @property
    def listed_items(self) -> set[str]:
        """The items of its lists that describe the original."""
        return set()

    def lists_within(self, occurring: Collection[str]) -> dict[str, Any]:
        """Those lists as plain values, without whatever names an item that is not in ``occurring``; sorted."""
        return {}

    def unbounded(self) -> Self:
        """The same without a bound on how many items are suppressed."""
        return self

    @property
    def observable_items(self) -> frozenset[str] | None:
        """The only items that an attacker can know; None: any item. The others are published unchanged."""
        return None

    @property
    def strictest(self) -> PrivacyModel:
        """A model that implies this one, for algorithms that take one number where this one has several."""
        return self

    @property
    def utility_groups(self) -> Sequence[Sequence[str]]:
        """Groups of items that must stay apart, each of which must be counted exactly."""
        return ()

    @property
    def known_items(self) -> float | None:
        """How many items of a person the attacker of the guarantee may know; None where no number limits them."""
        return self.reach

    @property
    def covered_items(self) -> float | None:
        """Up to how many known items the guarantee limits the number of matching people; None where it does not."""
        return None if self.crowd is None else self.known_items

    def check_columns(self, roles: Iterable[tuple[str, str]]) -> None:
        """Refuse columns, given as name and role, that this model would publish outside its guarantee."""
        from setveil.models.registry import usual_model

        named = list(roles)
        known, secret = ([name for name, role in named if role == one] for one in ("known", "sensitive"))
        if known and not self.known_columns:
            raise InputError(
                f'model "{self.name}" does not protect known columns ({name_some(known)}): its guarantee is about '
                f"items alone. Use model {usual_model(True)}, or drop them with --drop."
            )
        if secret and not self.protects_columns:
            raise InputError(
                f'model "{self.name}" does not protect sensitive columns ({name_some(secret)}). Use model '
                f"{usual_model(True)}, or leave them out with --drop."
            )

    def column_sentences(self, roles: Iterable[tuple[str, str]]) -> list[str]:
        """What the guarantee does not cover because of published columns, in plain sentences."""
        named = list(roles)
        known, carried = ([name for name, role in named if role == one] for one in ("known", "carry"))
        texts = []
        if known and self.known_columns == "public":
            texts.append(
                f"Known columns ({name_some(known)}): they are published unchanged, so a record can be re-identified "
                "by them."
            )
        if carried:
            texts.append(
                f"Carried columns ({name_some(carried)}): they are published unchanged, outside the guarantee. An "
                "attacker who knows one of them matches fewer people."
            )
        return texts

    def doubts(self, data: Dataset) -> Iterator[str]:
        """Sentences about parameters that are allowed but protect little of these data. Parameters that protect
        nothing are an InputError.
        """
        yield from ()

    @abstractmethod
    def attacker(self) -> Attacker:
        """The attacker the guarantee is about.

        Examples:
            >>> len(sv.KmAnonymity(k=5, m=2).attacker()) > 0
            True
        """

    @abstractmethod
    def guarantee(self) -> str:
        """The guarantee in one plain sentence, with the attacker it assumes.

        Examples:
            >>> "at least 5" in sv.KmAnonymity(k=5, m=2).guarantee()
            True
        """

    @abstractmethod
    def not_protected(self) -> list[str]:
        """What the guarantee does not cover, in plain sentences.

        Examples:
            >>> len(sv.KmAnonymity(k=5, m=2).not_protected()) > 0
            True
        """


def _shown(value: Any) -> str:
    if isinstance(value, tuple) and (len(value) > 5 or any(isinstance(part, tuple) for part in value)):
        return f"<{len(value):,}>"
    return repr(value)


def _plain(value: Any) -> Any:
    return [_plain(part) for part in value] if isinstance(value, tuple) else value


# Sentences that hold for several models.
NEGATIVE_KNOWLEDGE = (
    "Negative knowledge: an attacker who knows that a person does not have an item can exclude records."
)
REPEATED_RELEASES = (
    "Repeated releases: an attacker can compare two releases of the same people. Publish once, or coordinate releases."
)
MINIMALITY = (
    "Minimality attacks: the algorithm is public and deterministic. An attacker can infer that a generalized or "
    "suppressed value was rare."
)
