"""What a data protection officer asks: promises by kind, every column, three risks, what caused the loss, provenance.

The three risks are those of the Article 29 Working Party (opinion WP216): singling out, linkability, inference. The
order of the headings follows ISO/IEC 27559: context, data, identifiability, governance.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.data._column_kinds import taken
from shoal.data._promise_words import grouped, joined, sentence, with_items
from shoal.data.dataset import Dataset, schema_of
from shoal.data.linked import Linked
from shoal.data.role import Role
from shoal.data.table import Column, Table
from shoal.report.attacks import Tried
from shoal.report.generalization_charts import Generalized
from shoal.report.wording import counted, number, percent, shown

if TYPE_CHECKING:
    from shoal.data.verdict import Verdict
    from shoal.outcome import AnyRun
    from shoal.preparation.transform import Transform

RARE = 5
"""Rare values that are listed."""

SHOWN = 200
"""Most columns that were never read and are listed."""

UNCHANGED = (
    "Published unchanged, because you declared that outsiders do not know it and that it is not sensitive."
)
PREPARED = UNCHANGED.replace("unchanged", "as prepared")
"""Why a column is published unchanged, and why as it was prepared."""


HIDDEN = (
    "Only someone who holds the key can tell who is behind a pseudonym; releases made with the same key can be "
    "linked."
)

HALF = (
    "Chance that someone who knows half of the quasi-identifiers from another source picks the right row, averaged "
    "over several halves."
)
ONE_RELEASE = (
    "No second release of the same people was given: shoal attack --other measures what two releases tell "
    "together."
)
FOUND = {"row found": "rows", "basket found": "baskets"}
"""Parts of the linkage attack on a release with separate secrets that say how often a record is found, and its name."""

EXACT = (
    "Chance that someone who knows everything public about a person picks out the right record. The public part of {} "
    "is published as it is, so this is the same as in the raw data, and nothing is promised about it. What is hidden "
    "is which secret of a group belongs to whom: see inference."
)


@dataclass(frozen=True, slots=True)
class Kind:
    """The promises of one kind: a sentence, the models behind it, and whether all of them are kept."""

    sentence: str
    holds: bool
    note: str


@dataclass(frozen=True, slots=True)
class ColumnFate:
    """What happened to a column, and why; numbers as texts."""

    name: str
    role: str
    happened: str
    loss: str
    distinct: str
    why: str
    taken: str = "–"  # as numbers, categories, dates or codes


@dataclass(frozen=True, slots=True)
class Threat:
    """One of the three risks: the question, the measured figure, and what is behind it."""

    name: str
    question: str
    before: str
    after: str
    said: str


@dataclass(frozen=True, slots=True)
class Assessment:
    """Everything that the section for the officer says."""

    kinds: tuple[Kind, ...]
    columns: tuple[ColumnFate, ...]
    threats: tuple[Threat, ...]
    forced: tuple[str, ...]
    trace: tuple[tuple[str, str], ...]
    terms: tuple[tuple[str, str], ...]
    earlier: str = (
        ""  # what it tells together with earlier releases of the same people, where those were given
    )


def assessment_of(
    run: "AnyRun", columns: Sequence[Generalized], attacks: Sequence[Tried], recipe: str, version: str
) -> Assessment:
    """Gather it from a run."""
    output, schema = run.recipe.get("output", {}), schema_of(run.release.data)
    known = [shown(fact) for fact in schema.known] if isinstance(schema, Table) else []
    named = (("title", "Title"), ("license", "License"), ("data_use", "Use that is allowed"))
    return Assessment(
        kinds_of(run.release.promises, run.verdicts, known),
        fates_of(run, columns),
        threats_of(attacks),
        forced_by(run),
        trace_of(run, recipe, version),
        tuple((words, shown(str(output[name]), 600)) for name, words in named if output.get(name)),
        " ".join(shown(str(one), 600) for one in run.trace.notes.get("series", ())),
    )


def kinds_of(
    promises: Sequence[Mapping[str, Any]], verdicts: "Sequence[Verdict]", known: Sequence[str] = ()
) -> tuple[Kind, ...]:
    """The promises by kind, with what is reached; a verdict that no promise asked for is a kind of its own."""
    waiting, items = list(verdicts), with_items(promises)
    found = []
    for group in grouped(promises):
        columns = [str(promise["column"]) for promise in group if promise.get("column")]
        own = []
        for promise in group:
            of = [one for one in waiting if one.model == promise.get("model")][:1]
            own += of
            waiting = [one for one in waiting if one not in of]
        if own:
            said = sentence(group[0], columns, known, items=items)
            found.append(Kind(said, all(one.holds for one in own), _note(own)))
    rest = [Kind(f"{one.promise[:1].upper()}{one.promise[1:]}.", one.holds, _note([one])) for one in waiting]
    return (*found, *rest)


def _note(verdicts: "Sequence[Verdict]") -> str:
    """What is behind a sentence: the model, what was promised and what is reached, and remarks."""
    first = verdicts[0]
    reached = sorted({float(one.value) for one in verdicts if one.value is not None})
    span = " to ".join(dict.fromkeys(number(value) for value in (*reached[:1], *reached[-1:]))) or "–"
    many = f", {len(verdicts)} columns" if len(verdicts) > 1 else f": {shown(first.promise, 400)}"
    broken = sum(one.offender_count for one in verdicts)
    parts = [f"{shown(first.model)}{many}", f"promised {number(first.threshold)}, reached {span}"]
    if broken:
        parts.append(f"{counted(broken, 'place breaks', 'places break')} it")
    parts += dict.fromkeys(shown(one.remark, 400) for one in verdicts if one.remark)
    return " · ".join(parts)


def fates_of(run: "AnyRun", columns: Sequence[Generalized]) -> tuple[ColumnFate, ...]:
    """What happened to every column of a table, in the order of the original; none for other forms."""
    original, data = schema_of(run.original), schema_of(run.release.data)
    apart = isinstance(data, Linked)
    tables = (data.public, data.secrets) if isinstance(data, Linked) else (data,)
    if not isinstance(original, Table) or not all(isinstance(one, Table) for one in tables):
        return ()
    there = {column.name: column for table in tables for column in table.every_column}
    known = {column.name: column for column in columns}
    promised = joined(list(dict.fromkeys(shown(str(one.get("model"))) for one in run.release.promises)))
    changed = {str(name) for name in run.release.details.get("perturbed", ())}
    fates = []
    for column in original.every_column:
        if column.name in known:
            fate = _generalized(known[column.name], promised)
        else:
            fate = _other(column, there.get(column.name), column.name in changed)
            fate = _linked(fate) if apart else fate
        if column.role is Role.SENSITIVE and column.name not in original.names:
            fate = replace(
                fate,
                why="it must not be learned about a person; nothing is promised about secrets of records",
            )
        how = taken(column.name, column.domain)
        kind = f"{how.kind} ({how.doubt or how.why}{'?' if how.doubt else ''})"
        fate = replace(fate, taken="sets of items" if column.role is Role.ITEMS else kind)
        fates.append(
            _prepared(fate, [step for step in run.preparation if column.name in step.columns_changed])
        )
    named = run.recipe.get("roles", {}).get("identifying", ())
    names = {named} if isinstance(named, str) else set(named)
    read = {column.name for column in original.every_column}
    gone = [str(name) for name in run.trace.notes.get("unread", names) if name not in read]
    return (*fates, *(_unread(shown(name), name in names) for name in gone[:SHOWN]))


def _unread(name: str, identifying: bool) -> ColumnFate:
    """A column that is neither read nor published."""
    role, why = ("identifying", "it identifies a person") if identifying else ("none", "you chose to drop it")
    return ColumnFate(name, role, "not published", "all", "–", why)


def _prepared(fate: ColumnFate, steps: "Sequence[Transform]") -> ColumnFate:
    """The fate of a column, told from its preparation on."""
    if not steps:
        return fate
    before = "; ".join(shown(step.sentence(), 200) for step in steps)
    after = "" if fate.happened == "unchanged" else f"; then {fate.happened}"
    why = HIDDEN if any(step.hides for step in steps) else PREPARED
    return replace(
        fate, happened=f"prepared ({before}){after}", why=why if fate.why == UNCHANGED else fate.why
    )


def _generalized(column: Generalized, promised: str) -> ColumnFate:
    shares = [
        (column.exact, "exact"),
        (column.coarse, f"coarser ({column.form})"),
        (column.suppressed, "suppressed"),
    ]
    happened = (
        ", ".join(f"{percent(share)} {words}" for share, words in shares if share) or "nothing is published"
    )
    changed = column.exact < 1
    why = "others may know it"
    why += f"; coarsened until {promised} held" if changed else ", and the promises hold without a change"
    why += "; only suppressed rows are lost" if not changed and column.loss else ""
    loss = "–" if column.loss is None else percent(column.loss)
    return ColumnFate(column.name, "quasi", happened, loss, f"{column.before:,} → {column.after:,}", why)


def _other(column: Column, published: Column | None, perturbed: bool) -> ColumnFate:
    before = _distinct(column)
    if column.role is Role.ITEMS:
        happened = "some are left out or coarser" if published is not None else "in clusters of each class"
        return ColumnFate(
            column.name, "items", happened, "–", "–", "some of the items of a person may be known"
        )
    if published is None:
        why = "it identifies a person" if column.role is Role.IDENTIFYING else "you chose not to publish it"
        return ColumnFate(column.name, str(column.role), "not published", "all", f"{before} → 0", why)
    after = f"{before} → {_distinct(published)}"
    if perturbed:
        why = "so that a published value does not prove the original one"
        return ColumnFate(column.name, str(column.role), "some values changed at random", "–", after, why)
    why = {
        Role.SENSITIVE: "it must not be learned about a person; the promises are about groups of its values",
        Role.ENTITY: "it tells which rows belong to one person, by numbers that are valid only within a class",
    }.get(column.role, UNCHANGED)
    happened = "renumbered" if column.role is Role.ENTITY else "unchanged"
    return ColumnFate(column.name, str(column.role), happened, "none", after, why)


def _linked(fate: ColumnFate) -> ColumnFate:
    """The fate of a column in linked tables: rows show their public cells and their group, and a group its secrets."""
    if fate.role == Role.QUASI:
        return replace(fate, why="others may know it; rows show it and their group, and no secret")
    if fate.role == Role.SENSITIVE:
        return replace(
            fate, happened="in a table of its own: the values of each group, but not who has which"
        )
    return fate


def _distinct(column: Column) -> str:
    return f"{len(column.occurring):,}" if len(column.codes) else "–"


def threats_of(attacks: Sequence[Tried]) -> tuple[Threat, ...]:
    """The three risks, each with the attack that measures it; what was not measured says so."""
    by_name = {one.name: one for one in attacks}
    linkage, guess = by_name.get("linkage"), by_name.get("inference")
    certain = by_name.get("certainty")
    then, now = (dict(linkage.parts_before), dict(linkage.parts)) if linkage else ({}, {})
    half = "half of the columns"
    asked = "Can records about one person be linked?"
    linked = (
        Threat("Linkability", asked, then.get(half, "–"), now[half], f"{HALF} {ONE_RELEASE}")
        if half in now
        else _unmeasured("Linkability", asked, ONE_RELEASE)
    )
    single = _threat("Singling out", "Can a person's record be picked out?", linkage)
    asked, learned = "Can a secret be deduced?", guess or certain
    part = next((name for name in now if name in FOUND), None)
    if linkage is None or part is None:
        return single, linked, _threat("Inference", asked, learned)
    secret = _threat("Inference", asked, linkage)
    more = f" {learned.sentence}" if learned else ""
    return (
        replace(single, before=then.get(part, "–"), after=now[part], said=EXACT.format(FOUND[part])),
        linked,
        replace(secret, said=f"{secret.said}{more}"),
    )


def _threat(name: str, question: str, tried: Tried | None) -> Threat:
    if tried is None:
        return _unmeasured(name, question, "shoal attack measures it.")
    bound = f" Promised: {tried.promised}." if tried.promised else ""
    added = f" The release closes {tried.residual} of the gap between the control and certainty."
    return Threat(name, question, tried.before, tried.after, f"{tried.sentence}{bound}{added}")


def _unmeasured(name: str, question: str, why: str) -> Threat:
    return Threat(name, question, "–", "not measured", f"Not measured here. {why}")


def forced_by(run: "AnyRun") -> tuple[str, ...]:
    """What caused the loss: the promise with the least room, and values that are rarer than the promised size."""
    said = []
    tight = min((one for one in run.verdicts if one.holds and one.value is not None), key=_room, default=None)
    if tight is not None and _room(tight) != float("inf"):
        room = _room(tight)
        rest = "it is just met" if room <= 1.000001 else f"it is exceeded by a factor of {room:.2f}"
        said.append(
            f"The tightest promise is {shown(tight.model)} (promised {number(tight.threshold)}, reached "
            f"{number(tight.value)}): {rest}."
        )
    sizes = [promise["k"] for promise in run.release.promises if isinstance(promise.get("k"), int)]
    sizes = [size for size in sizes if size > 1]
    if isinstance(run.original, Dataset) or not isinstance(run.original, Table) or not sizes:
        return tuple(said)
    rare = _rare(run.original, max(sizes))
    if rare:
        values = ", ".join(f"{shown(name)} = {shown(value)} ({rows:,})" for rows, name, value in rare[:RARE])
        more = f" and {len(rare) - RARE:,} more" if len(rare) > RARE else ""
        said.append(
            f"Values with fewer than {max(sizes)} rows, which could not be published as they are: {values}{more}."
        )
    else:
        said.append(
            f"No single value has fewer than {max(sizes)} rows: rare combinations of values caused the loss."
        )
    return tuple(said)


def _room(verdict: "Verdict") -> float:
    """The factor by which a promise is exceeded."""
    value, threshold = float(verdict.value or 0), float(verdict.threshold)
    if value >= threshold:
        return value / threshold if threshold > 0 else float("inf")
    return threshold / value if value > 0 else float("inf")


def _rare(table: Table, size: int) -> list[tuple[int, str, str]]:
    """The values of quasi-identifiers in fewer than `size` rows, the rarest first."""
    found = []
    for column in table.quasi:
        counts = np.bincount(column.codes, minlength=len(column.domain.labels))
        places = np.flatnonzero((counts > 0) & (counts < size)).tolist()
        found += [(int(counts[place]), column.name, column.domain.labels[place]) for place in places]
    return sorted(found)


def trace_of(run: "AnyRun", recipe: str, version: str) -> tuple[tuple[str, str], ...]:
    """When, with what and from what the release was made: what a signature is about."""
    path = str(run.recipe.get("source", {}).get("path", "-"))
    file = Path(path)
    local = path != "-" and "://" not in path and file.is_file()
    return (
        ("Date", date.today().isoformat()),
        ("Made with", f"Shoal {version}, method {shown(run.release.method)}, engine {run.engine.name}"),
        ("Input (SHA-256)", _hash_of(file) if local else "not a file: no hash"),
        ("Recipe (SHA-256)", hashlib.sha256(recipe.encode()).hexdigest()),
    )


def _hash_of(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return "the file could not be read again"
