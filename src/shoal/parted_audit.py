"""What can be told of published files without reading them here: `shoal verify --engine spark` and ``stream``."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from shoal.data.baskets import Baskets
from shoal.data.groups import Groups
from shoal.data.parts import Engine, PartedBaskets, PartedRelease
from shoal.data.release import Release
from shoal.data.table import Table
from shoal.data.verdict import Verdict
from shoal.errors import BadData, WrongUse
from shoal.models._judged import Judged, Verdicts, judged_sets, judged_table
from shoal.models.model import Model
from shoal.parted import engine_of, judge_sets, models_of
from shoal.recipe import Running
from shoal.verification import (
    Asked,
    not_whole,
    refuse_different_forms,
    refuse_unproven,
    roles_told,
    with_column_roles,
)

UNORDERED = "the order of the lines was not judged: copy the files to a disk that all workers see"


def verify_in_parts(source: str | Path, asked: Asked, running: Running) -> Verdicts:
    """Judge a release or any published file where an engine works.

    Parameters
    ----------
    source
        The folder of a release, or a published file or folder of part files, that all workers see.
    asked
        What to prove; a release is judged by its own promises unless told.
    """
    if (broken := not_whole(source)) is not None:
        return broken
    engine = engine_of(running)
    assert engine is not None
    try:
        return verify_by(engine, source, asked)
    finally:
        engine.close()


def verify_by(engine: Engine, source: str | Path, asked: Asked) -> Verdicts:
    """Judge a release or any published file where an engine works, which stays open."""
    from shoal.io.releases.folder import is_release

    if not is_release(source):
        return _verify_file(engine, source, asked)
    if (broken := not_whole(source)) is not None:
        return broken
    from shoal.io.releases.distributed import open_baskets, open_release

    release = open_release(source, engine)
    models = _models(release, asked, source)
    for model in models:
        model.accept(release.data.schema)
    if isinstance(release.data.schema, Table):
        from shoal.models._distributed import refuse_unknown, verify_table

        _refuse_idle(models, release.data.schema, release)
        data = replace(
            release.data,
            schema=with_column_roles(release.data.schema, asked.roles),
            # The order is promised by the release, and by nothing else that may be asked.
            order=release.data.order if models else None,
        )
        definite = _definite(models, data.schema, asked, source)
        refuse_unknown(() if models else asked.promised.models(), data)
        verdicts = verify_table(definite, data, engine.memory)
        return Verdicts(verdicts, judged_table(data.schema, roles_told(asked.roles) or None))
    if isinstance(release.data.schema, Baskets):
        baskets = open_baskets(source, engine)
        order = None if asked.others else baskets.order
        if not asked.others:
            _refuse_idle(models, baskets.schema, release)
        return _verify_baskets(engine, models, replace(baskets, order=order), asked)
    return _lines_judged(*judge_sets(models, release.data, asked=bool(asked.others)), release.data)


def _models(release: Release[PartedRelease], asked: Asked, source: str | Path) -> list[Any]:
    """What is asked for, or what the release promises itself."""
    if asked.others:
        refuse_different_forms(asked)
        return list(asked.others)
    if asked.promised.models():
        for model in asked.promised.models():
            model.accept(release.data.schema)
        return []
    if not release.promises:
        raise BadData("the release promises nothing, so there is nothing to prove.", path=source)
    return models_of(release)


def _refuse_idle(models: list[Any], schema: Table | Baskets, release: Release[PartedRelease]) -> None:
    for model in models:
        model.refuse_idle(schema, release.details)


def _definite(models: list[Any], table: Table, asked: Asked, source: str | Path) -> list[Any]:
    """The promises of a release with the population that is given, or those that are asked for."""
    if not table.quasi:
        raise WrongUse("No column is a quasi-identifier; name those that an adversary may know with --quasi.")
    population = asked.population(table, source, models or asked.promised.models())
    if not models:
        return list(asked.promised.definite(table, population, published=True))
    if population is None:
        return models
    return [
        model.among(population) if "population" in type(model).model_fields else model for model in models
    ]


def _verify_file(engine: Engine, source: str | Path, asked: Asked) -> Verdicts:
    """Judge a published file that is no release."""
    if asked.others:
        refuse_different_forms(asked)
        return _verify_sets(engine, str(source), asked)
    promised = bool(asked.promised.models())
    if not promised:
        _refuse_nothing_there(source)
    if Path(source).exists() or not promised:
        refuse_unproven(source, promised)
    from shoal.io.releases.distributed import published_table
    from shoal.io.tables.distributed import open_parts
    from shoal.io.tables.distributed_texts import looks_of
    from shoal.models._distributed import refuse_unknown, verify_table

    opened = open_parts(source, engine, asked.reading, raw=True)
    schema, parts = published_table(opened, {}, looks_of(opened))
    schema = with_column_roles(schema, asked.roles)
    data = PartedRelease(schema, parts, parts.fold(_height, _sum) or 0)
    definite = _definite([], schema, asked, source)
    refuse_unknown(asked.promised.models(), data)
    verdicts = verify_table(definite, data, engine.memory)
    return Verdicts(verdicts, judged_table(schema, roles_told(asked.roles)))


def _refuse_nothing_there(source: str | Path) -> None:
    """Refuse a path of this machine where there is neither a file nor part files, and no release either."""
    from shoal.io.releases.folder import published_folder
    from shoal.io.source import STANDARD_INPUT

    place = Path(source)
    elsewhere = str(source) == STANDARD_INPUT or "://" in str(source)
    if not elsewhere and not place.is_file() and not any(place.glob("part-*")):
        published_folder(place)


def _verify_sets(engine: Engine, source: str, asked: Asked) -> Verdicts:
    """Judge a published file of baskets, groups or clusters."""
    from shoal.io.baskets.distributed import receive_parted_baskets

    first = asked.others[0]
    if Baskets not in first.accepts:
        lines = engine.lines(source)
        from shoal.io.releases.distributed import empty_sets
        from shoal.io.releases.file_order import order_of

        form = "groups" if Groups in first.accepts else "clusters"
        order = None if "://" in source else partial(order_of, engine, source, {"form": form})
        data = PartedRelease(empty_sets(form), lines, lines.fold(_height, _sum) or 0, order=order)
        verdicts, told = judge_sets(list(asked.others), data, asked=True)
        if order is None:
            verdicts = tuple(_unordered(one) for one in verdicts)
        return _lines_judged(verdicts, told, data)
    read, _ = receive_parted_baskets(engine, source, asked.layout, asked.reading, published=True)
    return _verify_baskets(engine, list(asked.others), read, asked)


def _verify_baskets(engine: Engine, models: list[Model], data: PartedBaskets, asked: Asked) -> Verdicts:
    from shoal.io.baskets.load import with_roles as with_item_roles
    from shoal.models._distributed_baskets import verify_baskets

    if asked.roles.sensitive or asked.roles.insensitive:
        schema = with_item_roles(data.schema, asked.roles.sensitive, asked.roles.insensitive)
        data = replace(data, schema=schema)
    for model in asked.others:
        model.ask(data.schema)
    items = len(data.schema.vocabulary)
    return Verdicts(verify_baskets(models, data, engine.memory), judged_sets(data.schema, models, items))


def _lines_judged(verdicts: tuple[Verdict, ...], told: dict[str, int], data: PartedRelease) -> Verdicts:
    form = type(data.schema).__name__.lower()
    return Verdicts(verdicts, Judged(form, items=told["items"], sensitive_items=told["sensitive"]))


def _unordered(verdict: Verdict) -> Verdict:
    return replace(verdict, remark="; ".join(filter(None, (verdict.remark, UNORDERED))))


def _height(frame: Any) -> int:
    return int(frame.height)


def _sum(one: int, other: int) -> int:
    return one + other
