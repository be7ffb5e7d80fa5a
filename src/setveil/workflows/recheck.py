"""Whether a release folder holds what it says: checked from its files, whoever made them.

Three answers: verified, not verified, cannot be verified here. What is said about a folder was computed
from its records; the rest is what its publisher says, and is called that.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from setveil import __version__
from setveil.core import Dataset, Layout
from setveil.core.progress import Progress, no_progress
from setveil.core.regular_files import open_regular
from setveil.errors import InputError, SetveilError, UncheckedError, unheard_warnings
from setveil.io.releases.addresses import as_address
from setveil.io.releases.canonical import PART_SIZE, PARTS, bare_layout, check_form, part_name
from setveil.io.releases.columns import COLUMNS
from setveil.io.releases.names import guard, guarded_labels
from setveil.io.releases.tables import ITEM_COUNTS, read_codebook
from setveil.models import PrivacyModel, certified_model
from setveil.releases import KINDS, Release
from setveil.report.certificate_schema import SCHEMA, check_schema
from setveil.report.facts import GUESSING, VISITS_ONLY, named_algorithm, public_achieved
from setveil.report.record import certified_columns, further_sentences, kept_of, options_that_occur, sentences_of
from setveil.verify import (
    Verdict,
    check_codebook,
    check_earlier_page,
    check_files,
    check_item_counts,
    check_original,
    judge,
    minimal_violations,
)
from setveil.workflows.assess import public_metrics, public_risk
from setveil.workflows.cluster import check_engine, compare_parts, judge_parts, read_parts, read_path
from setveil.workflows.folder import ordered_as_input, owners_model, plain, read_folder, spoken_of
from setveil.workflows.inputs import Original, read_original
from setveil.workflows.limits import Deadline, seconds_for
from setveil.workflows.outputs import local_copy
from setveil.workflows.signing import Signature, check_signature
from setveil.workflows.visits import Visits, check_people, find_visits

if TYPE_CHECKING:
    from setveil.algorithms import Entry
    from setveil.verify import Violation

CERTIFICATE = "certificate.json"
HIDDEN_LISTS = "the {name} were not published; only their owner can check them."
NO_LISTS = "no item of the published {name} is in the records; only their owner can check them."
HIDDEN_SUPPRESSION = "only the owner can check how many items were suppressed (use --original)."
MAYBE_SUPPRESSED = (
    "only the owner can check whether items that are not published were suppressed or absent (use --original)."
)
HIDDEN_QUOTES = (
    "every label that a spreadsheet could take for a formula begins with a quote; only the owner can check "
    "whether the quotes are part of the labels (use --original)."
)
NOTHING_LEFT = {
    0: "no item of anyone is published: nothing can be learned from the release.",
    1: "only one item is published for everybody: nothing can be learned from the release.",
}


@dataclass(frozen=True)
class FolderVerdict:
    """What ``verify OUT`` found."""

    holds: bool | None  # None: cannot be verified here
    problems: tuple[str, ...]  # files, certificate, codebook, fidelity
    verdict: Verdict | None  # of the claim; None where it could not be checked
    certificate: Mapping[str, Any]
    sentence: str = ""  # what was checked, in the words of the model
    unchecked: tuple[str, ...] = ()  # why nothing can be verified
    notes: tuple[str, ...] = ()
    publisher_says: Mapping[str, Any] = field(default_factory=dict)  # not computed here
    nothing_left: str = ""  # a guarantee is easily met by publishing the same of everybody; one of the notes, too
    signature: Signature | None = None  # what is known about the issuer

    @property
    def guessing(self) -> str:
        """The publisher's statement about groups that can be guessed: the condition of the guarantee is not met."""
        said: Iterable[str] = self.publisher_says.get("not_protected", ())
        return next((sentence for sentence in said if sentence.startswith(GUESSING)), "")

    @property
    def visits(self) -> str:
        """The publisher's statement that records are visits, not people."""
        return VISITS_ONLY if VISITS_ONLY in self.publisher_says.get("not_protected", ()) else ""


def verify_folder(
    out: str | os.PathLike[str],
    original: Any = None,
    *,
    time_limit: float | None = None,
    progress: Progress = no_progress,
    engine: str = "local",
    master: str | None = None,
    signers: str | os.PathLike[str] | None = None,
    **read_options: Any,
) -> FolderVerdict:
    """Verify a release folder: files, form, guarantee, figures and page; with ``original`` also against the original.

    The check runs in the process of the caller and changes nothing on disk. Files have size limits, but
    memory is not limited: ``setveil verify`` checks a folder of unknown origin in a process with a limit on that, too.
    Without ``original`` nothing outside the folder is read.

    Args:
        out: the folder, or an address such as ``"s3://bucket/out"``: downloaded into a temporary folder.
        original: the original data, for checks that need it.
        time_limit: in seconds; by default it grows with the size of the files. After it the answer is None.
        progress: called with a stage name and a fraction between 0 and 1.
        engine: ``"spark"`` counts on a cluster, for releases that were made there.
        master: the master of the cluster, as in ``run``.
        signers: a file of trusted keys, as OpenSSH's ``allowed_signers``: the certificate must be signed with one.
        read_options: how to read ``original``, as in ``read``.

    Returns:
        ``holds`` (True: verified, False: not verified, None: cannot be verified), and every problem found.

    Examples:
        >>> import setveil as sv
        >>> release = sv.anonymize("baskets.txt", "km", k=2, m=2, algorithm="aa", hierarchy="taxonomy.csv")
        >>> sv.verify_folder(release.publish("to-be-checked"), "baskets.txt").holds
        True
    """
    is_on_spark = check_engine(engine, master)
    if as_address(out) is not None:
        with local_copy(out, master or "local[*]" if is_on_spark else None) as copy:
            return verify_folder(
                copy, original, time_limit=time_limit, progress=progress, engine=engine, master=master,
                signers=signers, **read_options,
            )  # fmt: skip
    folder = Path(out)
    seconds = seconds_for(folder) if time_limit is None else time_limit
    check = _Check(folder, Deadline(seconds, progress), is_on_spark, master)
    if isinstance(original, str | os.PathLike) and is_on_spark:
        data: Dataset | None = read_path(original, master, read_options)
    elif original is None:
        data = None
    else:
        if isinstance(original, Original):
            read = original
        else:
            visits = find_visits(folder, original, read_options)
            read = read_original(original, **(read_options if visits is None else visits.reading))
            read = read._replace(visits=visits)
        data, problems, unchecked, notes, check.visits = read
        check.problems += problems
        check.unchecked += unchecked
        check.notes += notes
    if data is not None and data.written_in_parts and not is_on_spark:
        raise InputError("the original and the release are compared by one engine; give both to Spark.")
    check.is_on_spark = is_on_spark and (data is None or data.written_in_parts)
    check.authenticate(signers)
    try:
        with unheard_warnings():  # advice for owners, in the words of whoever made the files
            check.run(data)
    except UncheckedError as problem:
        check.unchecked.append(str(problem))
    except SetveilError as problem:
        check.problems.append(str(problem))
    except (MemoryError, RecursionError):
        check.unchecked.append("checking the files takes more memory than is available.")
    return check.answer()


def audit(
    data: Dataset,
    section: Mapping[str, Any],
    limit: int,
    time_limit: float | None = None,
    progress: Progress = no_progress,
) -> tuple[Verdict, list[Violation]]:
    """Check any records, whoever made them; ``section`` is the policy's model section."""
    from setveil.policy.resolve import model_of
    from setveil.policy.schema import Policy
    from setveil.workflows.request_checks import check_model_lists

    watch = progress if time_limit is None else Deadline(time_limit, progress)
    policy = Policy.from_dict({"schema": 1, "model": dict(section)})
    model = model_of(policy, data, None)
    check_model_lists(data, model)
    verdict, _ = judge(data, model, watch)
    return verdict, minimal_violations(data, model, limit, watch) if limit and not verdict.holds else []


def nothing_left(data: Dataset) -> str:
    """What has to be said first of records that are all alike; empty for others."""
    return NOTHING_LEFT.get(int((data.supports > 0).sum()), "")


class Staged(NamedTuple):
    """What a run that is about to publish knows of the files that it has written and read back."""

    internal: Path
    release: Release  # as the files spell it
    model: PrivacyModel  # as ``policy.toml`` in ``internal`` has it
    verdict: Verdict
    achieved: Mapping[str, Any]
    risk: Sequence[Mapping[str, Any]]


def check_staged(folder: Path, data: Dataset, staged: Staged, progress: Progress = no_progress) -> list[str]:
    """The problems that ``verify OUT --original INPUT`` would find, before the folder is in its place.

    What was counted from these very files is not counted again.
    """
    check = _Check(folder, progress, staged=staged)
    with unheard_warnings():
        check.run(data)
    return check.problems


class _Check:
    """One check of one folder; what is found gathers in its lists."""

    def __init__(
        self,
        folder: Path,
        progress: Progress,
        is_on_spark: bool = False,
        master: str | None = None,
        staged: Staged | None = None,
    ) -> None:
        self.folder, self.progress, self.staged = folder, progress, staged
        self.is_on_spark, self.master = is_on_spark, master
        self.problems: list[str] = []
        self.unchecked: list[str] = []
        self.notes: list[str] = []
        self.publisher_says: dict[str, Any] = {}
        self.certificate: Mapping[str, Any] = {}
        self.verdict: Verdict | None = None
        self.sentence = ""
        self.nothing_left = ""
        self.signature: Signature | None = None
        self.visits: Visits | None = None  # where records are visits of people that the owner names

    def authenticate(self, signers: str | os.PathLike[str] | None) -> None:
        """Who issued the certificate; a signature that is there must be one of it."""
        found = self.signature = check_signature(self.folder, signers)
        self.problems += filter(None, [found.problem])
        self.unchecked += filter(None, [found.unchecked])
        self.notes += filter(None, [found.note])

    def answer(self) -> FolderVerdict:
        """The three answers: what is wrong weighs more than what cannot be verified."""
        is_broken = bool(self.problems) or (self.verdict is not None and not self.verdict.holds)
        is_open = bool(self.unchecked) or self.verdict is None
        return FolderVerdict(
            holds=False if is_broken else None if is_open else True,
            problems=tuple(self.problems),
            verdict=self.verdict,
            certificate=self.certificate,
            sentence=self.sentence,
            unchecked=tuple(self.unchecked),
            notes=tuple(self.notes),
            publisher_says=self.publisher_says,
            nothing_left=self.nothing_left,
            signature=self.signature,
        )

    def run(self, data: Dataset | None) -> None:
        """Files first, then what they say."""
        self.certificate, problems = check_files(self.folder, self.progress)
        self.problems += problems or check_schema(self.certificate)
        if check_schema(self.certificate):
            return
        said = self.certificate
        model, is_hidden = self._model()
        in_parts = said["release"]["published"] == PARTS
        if self.is_on_spark and data is not None and not in_parts:
            raise InputError("this release is one file; Spark checks those that it wrote in parts. Use --engine local.")
        self.is_on_spark = self.is_on_spark and in_parts  # one file is checked in this process
        if self.is_on_spark and self.problems:
            return  # changed files are not worth counting
        self.progress("reading the release", None)
        parts = read_parts(self.folder, self.master) if self.is_on_spark else None
        spelled = read_folder(self.folder, said, parts) if self.staged is None else self.staged.release
        self.progress("comparing files with their records", None)
        problems, unchecked = check_form(
            self.folder,
            spelled,
            Layout(**said["release"]["layout"]),
            keep_order=said["record_order"] == "input",
            keep_ids=said["record_ids"],
            in_parts=in_parts,
        )
        spelled.published.forget_index()  # of its canonical order
        self.problems += problems
        self.unchecked += unchecked
        self._check_release(spelled.kind)
        labels = spelled.published.vocabulary.labels
        book = read_codebook(self.folder)
        self.problems += check_codebook(book, labels, spelled.kind)
        self._check_guards(spelled, book, data is not None)
        self._check_names(spelled)
        if said["records"] != spelled.published.n_records:
            self._wrong("states a number of records that differs from the published one")
        release = plain(spelled, said)
        if not release.has_groups:
            self.nothing_left = nothing_left(release.published)
            self.notes += filter(None, [self.nothing_left])
        owners = None
        if self.staged is not None:
            owners = self.staged.model
        elif data is not None and not self.is_on_spark:  # on a cluster no model has lists that are not published
            owners = self._owners_model(data)
        if is_hidden and owners is None:
            self.unchecked.append(HIDDEN_LISTS.format(name=model.private_name))
        else:
            self._check_claim(release, owners if is_hidden and owners else model, data)
        if model.private and not is_hidden:
            self._check_lists(release, model, owners, data)
        self.problems += check_item_counts(release, None if is_hidden else model, data)
        self._check_sensitive(release, model)
        self._check_words(model)
        self._check_figures(spelled, model)
        self._check_page(spelled)
        if data is None:
            return
        internal = None if self.staged is None else self.staged.internal
        known = release.with_items(spoken_of(self.folder, release, said, data, internal))
        if self.is_on_spark:
            spell = guard if said["release"]["safe_csv"] else str
            self.problems += compare_parts(self.folder, known, data, spell, self.master)
        else:
            ordered, is_ordered = ordered_as_input(self.folder, known, said, internal)
            ordered = ordered.with_unseen(compress(data.vocabulary, data.supports > 0))
            self.progress("comparing with the original", None)
            suppression = said["release"]["suppression"]
            applied = owners or (None if is_hidden else model)
            self.problems += check_original(
                ordered, data.rows, applied, in_input_order=is_ordered, suppression=suppression
            )
            if self.visits is not None and is_ordered:
                self.progress("counting people", None)
                problems, notes = check_people(ordered, model, self.visits)
                self.problems += problems
                self.notes += notes

    def _wrong(self, what: str) -> None:
        self.problems.append(f"{CERTIFICATE}: {what}.")

    def _model(self) -> tuple[PrivacyModel, bool]:
        """The model that a certificate names, and whether its lists about the original are not published."""
        name, options = self.certificate["model"]["name"], dict(self.certificate["model"]["options"])
        try:
            model, is_hidden = certified_model(name, options)
        except UncheckedError:
            raise
        except SetveilError as problem:
            raise InputError(f"{CERTIFICATE}: {problem}") from None
        except (TypeError, ValueError, AttributeError):
            raise InputError(f"{CERTIFICATE}: the options of the model are not valid.") from None
        written = json.loads(json.dumps(model.options()))
        if is_hidden:
            written = {key: value for key, value in written.items() if key not in model.private}
        if not _is_same(written, self.certificate["model"]["options"]):
            self._wrong("options of the model are missing, or are not in canonical form")
        return model, is_hidden

    def _owners_model(self, data: Dataset) -> PrivacyModel | None:
        try:
            return owners_model(self.folder, self.certificate, data)
        except UncheckedError as problem:
            self.unchecked.append(str(problem))
            return None

    def _check_names(self, release: Release) -> None:
        """A release has exactly the files of its kind."""
        published = {self.certificate["release"]["published"]}
        if published == {PARTS}:
            n_parts = -(-release.published.n_records // PART_SIZE)
            published = {part_name(number) for number in range(n_parts)}
        wanted = {*published, "codebook.csv", "report.html", *release.further_files}
        wanted |= {COLUMNS} if release.published.columns else set()
        wanted |= {ITEM_COUNTS} if release.item_counts else set()
        if set(self.certificate["files"]) != wanted:
            self._wrong(f"a {release.kind} consists of {', '.join(sorted(wanted))} and nothing else")

    def _check_release(self, kind: str) -> None:
        """How the files are written is reported as far as they show it, and what may be missing only where it may."""
        certified = self.certificate["release"]
        layout = Layout(**certified["layout"])
        if layout != bare_layout(layout, kind, self.certificate["record_ids"], "columns" in certified):
            self._wrong("its layout has details that the published file does not show")
        decided_by = KINDS[kind].suppression_by
        if certified["suppression"] and not decided_by:
            self._wrong(f"no single entry can be missing from a {kind}")
        algorithm = self._algorithm()
        if (
            decided_by == "algorithm"
            and algorithm is not None
            and certified["suppression"] != algorithm.suppresses_entries
        ):
            self._wrong(f'whether entries may be missing is not what "{algorithm.name}" does')

    def _algorithm(self) -> Entry | None:
        """What is known of the algorithm; nothing of one that is not listed, made by hand."""
        from setveil.algorithms import ENTRIES

        said = (self.certificate["algorithm"]["name"], self.certificate["algorithm"].get("package", "setveil"))
        return next((entry for entry in ENTRIES if (entry.name, entry.package) == said), None)

    def _check_guards(self, release: Release, book: Sequence[tuple[str, str]], has_original: bool) -> None:
        """Of labels that are said to be guarded against spreadsheets some are; that all are which need it is seen when
        the guards are taken off. Quotes that nobody put there are part of a label, which only the original shows.
        """
        is_guarded, is_bare = guarded_labels(release, book)
        if not self.certificate["release"]["safe_csv"]:
            if is_guarded and not is_bare and not has_original:
                self.unchecked.append(HIDDEN_QUOTES)
        elif not is_guarded and not is_bare:
            self._wrong("says that labels are guarded against spreadsheets, but none is")

    def _check_claim(self, release: Release, model: PrivacyModel, data: Dataset | None) -> None:
        self.sentence = model.guarantee()
        found: Mapping[str, Any]
        if self.staged is not None:
            self.verdict, found = self.staged.verdict, self.staged.achieved
        elif self.is_on_spark:
            self.verdict, found = judge_parts(self.folder, model, self.progress, self.master)
        elif not (model.depends_on_suppressed and release.is_uniform):
            self.verdict, found = judge(release, model, self.progress)
        elif data is not None:  # a codebook does not tell absent items from suppressed ones; the original does
            occurring = set(compress(data.vocabulary, data.supports > 0))
            known = release.with_items(data.vocabulary).with_suppressed(occurring)
            self.verdict, found = judge(known, model, self.progress)
        else:
            self._check_strictly(release, model)
            return
        self._compare_achieved(self.verdict, found)

    def _check_strictly(self, release: Release, model: PrivacyModel) -> None:
        """Without the original, nobody knows which items were suppressed: every reading is tried."""
        unbounded = model.unbounded()
        if unbounded != model:
            self.unchecked.append(HIDDEN_SUPPRESSION)
        wide = release.with_items(model.listed_items)  # the strictest reading: all that is not published is suppressed
        self.verdict, _ = judge(wide.with_suppressed(set(wide.domain_items)), unbounded, self.progress)
        if self.verdict.holds:
            return
        lenient, _ = judge(release.with_suppressed(()), unbounded, self.progress)
        if lenient.holds:
            self.verdict = None
            self.unchecked.append(MAYBE_SUPPRESSED)

    def _check_lists(
        self, release: Release, model: PrivacyModel, owners: PrivacyModel | None, data: Dataset | None
    ) -> None:
        """Published lists are the owner's, and a list of which nothing is published guarantees nothing."""
        for name in model.private:
            listed = [tuple(one) for one in getattr(model, name) or ()]
            if listed != sorted(set(listed)):
                self._wrong(f'its list "{name}" is not in order, or one entry occurs twice in it')
        if owners is None and not model.listed_items & release.shown_items:
            self.unchecked.append(NO_LISTS.format(name=model.private_name))
        if owners is None or data is None:
            return
        if options_that_occur(release, owners, data) != model.options():
            self._wrong(f"its {model.private_name} are not those of the owner's policy")

    def _compare_achieved(self, verdict: Verdict, found: Mapping[str, Any]) -> None:
        self.unchecked += filter(None, [verdict.unchecked])
        public = public_achieved(self.certificate["model"]["name"], found)
        if verdict.holds and not _is_same(public, self.certificate["achieved"]):
            self._wrong('"achieved" is not what the records show')

    def _check_sensitive(self, release: Release, model: PrivacyModel) -> None:
        """Only items that the files show are called sensitive, and all that are counted are."""
        named = set(model.options().get("sensitive", ()))
        if not named <= release.shown_items:
            self._wrong("it calls items sensitive that the files do not show")
        if release.has_groups and named != release.counted_labels:
            self._wrong("the items it calls sensitive are not those that are counted")

    def _check_words(self, model: PrivacyModel) -> None:
        """Sentences belong to a model and its options; other versions may word them differently."""
        said = self.certificate
        made_by = named_algorithm(said["algorithm"]["name"], said["algorithm"].get("package", "setveil"))
        self.publisher_says |= {"setveil": said["setveil"], "algorithm": made_by}
        if said["schema"] != SCHEMA:
            self.notes.append(
                f"the certificate was written by setveil {said['setveil']}: its sentences and its figures of risk and "
                "loss are not compared with those of this version. Files, records and guarantee are."
            )
            self.publisher_says["not_protected"] = list(said["not_protected"])
            return
        if said["guarantee"] != model.guarantee():
            self._wrong('"guarantee" is not the sentence of this model')
        algorithm, kind = self._algorithm(), said["release"]["kind"]
        is_guessable = None if algorithm is None else algorithm.guessable
        further = further_sentences(said["not_protected"], kind, model, said["records"], is_guessable)
        if further is None or not self._are_sentences(model, further):
            self._wrong('"not_protected" is not the list for such a release')
        elif further:
            self.publisher_says["not_protected"] = further
        if said["record_ids"]:
            self.notes.append("record ids are published: anyone who knows an id can find the record.")
        if said["record_order"] == "input":
            self.notes.append(
                "the order of the input is published: anyone who knows a person's position in it can find the record."
            )

    def _are_sentences(self, model: PrivacyModel, further: Sequence[str]) -> bool:
        """Whether the certificate lists what such a release does not protect; an earlier version may not know all."""
        said = self.certificate
        expected = sentences_of(
            model, said["release"]["kind"], kept_of(said), further, certified_columns(said),
            ITEM_COUNTS in said["files"],
        )  # fmt: skip
        unknown = tuple(
            start for start, last in model.later_sentences.items() if not _is_earlier(last, said["setveil"])
        )
        earlier = [sentence for sentence in expected if not sentence.startswith(unknown)]
        listed: list[str] = said["not_protected"]
        return listed in (expected, earlier)

    def _check_figures(self, release: Release, model: PrivacyModel) -> None:
        if self.certificate["schema"] != SCHEMA:
            return
        if model.private and self.certificate["achieved"]:
            self._wrong('"achieved" has figures that only the owner can count')
        said = self.certificate["risk"]["after"]
        is_old = _is_earlier(self.certificate["setveil"])
        if said and is_old and not any("worst_singled_out" in row for row in said):
            self.notes.append(
                "the certificate was written before the worst attacker was measured: its figures of risk are not "
                "compared with those of this version, and its residual risk is too low."
            )
        else:
            found = None if self.staged is None else self.staged.risk
            if not _is_same(found or public_risk(release, model, self.progress).to_dict()["rows"], said):
                self._wrong('"risk" is not what the records show')
        if not _is_same(public_metrics(release), self.certificate["metrics"]):
            self._wrong('"metrics" is not what the records show')

    def _check_page(self, release: Release) -> None:
        """The page follows from the certificate and the files, so it can be drawn again."""
        from setveil.algorithms import by_kind
        from setveil.report.page import render_report
        from setveil.report.record import public_facts

        version = self.certificate["setveil"]
        if version != __version__:
            drawn = f"report.html was drawn by setveil {version}, and only that version can draw it again"
            if _is_earlier(version):
                self.notes.append(f"{drawn}: rely on the certificate instead.")
                with open_regular(self.folder / "report.html") as file:
                    self.problems += check_earlier_page(file.read(), self.certificate)
            else:
                self.unchecked.append(f"{drawn}; this is {__version__}.")
            return
        if self.problems:
            return
        self.progress("drawing the page", None)
        page = render_report(
            public_facts(self.certificate, release, by_kind(self.certificate["model"]["name"]))
        ).encode()
        with open_regular(self.folder / "report.html") as file:
            if file.read(len(page) + 1) != page:
                self.problems.append("report.html: is not the page of this certificate and these records.")


def _is_earlier(version: str, other: str = __version__) -> bool:
    """Whether a version came before another one: 0.9 before 0.10, and what is not a number before nothing."""
    number, here = (tuple(map(int, re.findall("[0-9]{1,9}", text))) for text in (version, other))
    return re.fullmatch("[0-9.]+", version) is not None and number < here


def _is_same(found: Any, said: Any) -> bool:
    """Whether figures are written alike: 5, 5.0 and true are equal, and a choice among them would tell something."""
    return json.dumps(found, sort_keys=True) == json.dumps(said, sort_keys=True)
