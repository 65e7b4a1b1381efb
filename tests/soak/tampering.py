"""Falsified releases: whatever the naive judge calls broken, `verify` must not call proved."""

import csv
import io
import json
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

from tests.naive.linked import canonical
from tests.naive.published_sets import canonical_clusters, canonical_groups
from tests.papers import without_papers
from tests.soak import judges, related, set_judges
from tests.soak.cases import Case
from tests.soak.checks import judged_sets, judged_table, linked_texts
from tests.soak.engines import Outcome
from tests.soak.published import Published, read

import shoal
from shoal.errors import ShoalError

TRIES = 12


def falsify(case: Case, outcome: Outcome, population: str | None) -> tuple[str, str]:
    """Change a release until it is broken; returns what was done, and what `verify` overlooked."""
    random = Random(case.seed)
    published = read(outcome.folder)
    if list((outcome.folder / "release").glob("*.parquet")):
        return "", ""
    private = json.loads((outcome.folder / "run.json").read_text(encoding="utf-8"))
    for _ in range(TRIES):
        broken = _edited(random, case, published, private)
        if broken:
            break
    else:
        return "nothing breaks", ""
    _write(outcome.folder / "release", published)
    try:
        verdicts = shoal.verify(outcome.folder, population=population)
    except ShoalError:
        return "refused", ""
    except Exception as error:
        return "crashed", f"{type(error).__name__}: {error} ({broken})"
    if all(verdict.holds for verdict in verdicts):
        return "overlooked", broken
    return "found", ""


def _edited(random: Random, case: Case, published: Published, private: dict[str, Any]) -> str:
    """Edit something; returns what that breaks."""
    if published.form in ("table", "linked", "clustered", "related"):
        edits = {
            "table": _edit_rows,
            "linked": _edit_linked,
            "clustered": _edit_clustered,
            "related": related.edit,
        }
        edits[published.form](random, case, published)
        judged = judged_table(case, published, private)
        found = [fault for promise in published.promises for fault in judges.judge(promise, judged)]
    else:
        if published.form == "baskets":
            _edit_baskets(random, published)
        elif published.form == "groups":
            _edit_groups(random, published)
        else:
            _edit_clusters(random, published)
        sets = judged_sets(case, published)
        found = [fault for promise in published.promises for fault in set_judges.judge(promise, sets)]
    return found[0] if found else ""


def _edit_rows(random: Random, case: Case, published: Published) -> None:
    roles = case.recipe["roles"]
    if len(published.rows) > 1 and random.random() < 0.4:
        published.rows.pop(random.randrange(len(published.rows)))
        return
    row = random.choice(published.rows)
    name = random.choice([*roles["quasi"], *roles["sensitive"]])
    row[name] = random.choice(published.rows)[name]


def _edit_linked(random: Random, case: Case, published: Published) -> None:
    """Give a secret of a group another value, or move a row and a secret to another group."""
    (secret,) = case.recipe["roles"]["sensitive"]
    link = published.facts["link"]
    row, other = random.choice(published.secrets), random.choice(published.secrets)
    if random.random() < 0.6:
        row[secret] = other[secret]
        return
    moved = next(one for one in published.rows if one[link] == row[link])
    if sum(one[link] == row[link] for one in published.rows) > 1:
        moved[link], row[link] = other[link], other[link]


def _edit_baskets(random: Random, published: Published) -> None:
    items = sorted(set().union(*published.baskets))
    place = random.randrange(len(published.baskets))
    if items:
        published.baskets[place] = published.baskets[place] ^ {random.choice(items)}


def _edit_groups(random: Random, published: Published) -> None:
    group = random.choice(published.lines)
    if group["sensitive"] and random.random() < 0.7:
        group["sensitive"][random.choice(list(group["sensitive"]))] += 1
    elif len(group["baskets"]) > 1:
        group["baskets"].pop()


def _edit_clusters(random: Random, published: Published) -> None:
    cluster = random.choice(published.lines)
    while "joint" in cluster:
        cluster = random.choice(cluster["joint"])
    if cluster["chunks"] and random.random() < 0.7:
        chunk = random.choice(cluster["chunks"])
        if len(chunk) > 1:
            chunk.pop(random.randrange(len(chunk)))
    elif cluster["size"] > 1:
        cluster["size"] -= 1


def _edit_clustered(random: Random, case: Case, published: Published) -> None:
    """Edit a row, or a cluster of a class."""
    if random.random() < 0.4:
        _edit_rows(random, case, published)
        return
    trees = Published({}, [], [], [], [line["cluster"] for line in published.lines], "")
    _edit_clusters(random, trees)


def _write(release: Path, published: Published) -> None:
    """Write the data in canonical order, with counts that fit, so that nothing but the promise is broken."""
    facts = dict(published.facts)
    if published.form in ("table", "clustered"):
        rows = sorted([row[name] for name in published.names] for row in published.rows)
        facts["rows"] = len(rows)
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerows([published.names, *rows])
        (release / "data.csv").write_text(text.getvalue(), encoding="utf-8", newline="")
        if published.form == "clustered":
            lines = (json.dumps(line, ensure_ascii=False) for line in published.lines)
            (release / "items.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
            facts["items"] = len(_items([line["cluster"] for line in published.lines], groups=False))
    elif published.form == "related":
        related.write(release, published)
        facts |= {"rows": len(published.rows), "record_rows": len(published.records)}
    elif published.form == "linked":
        _write_linked(release, published)
        facts["groups"] = len({row[facts["link"]] for row in published.rows})
    elif published.form == "baskets":
        _write_baskets(release, published)
        facts["items"] = len(set().union(*published.baskets))
    else:
        groups = published.form == "groups"
        lines = (canonical_groups if groups else canonical_clusters)(published.lines)
        (release / "data.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        if groups:
            facts["baskets"] = sum(len(group["baskets"]) for group in published.lines)
        else:
            from tests.naive.disassociation import leaves_of

            facts["baskets"] = sum(leaf["size"] for one in published.lines for leaf in leaves_of(one))
        facts["items"] = len(_items(published.lines, groups))
    (release / "release.json").write_text(json.dumps(facts, ensure_ascii=False), encoding="utf-8")
    without_papers(release)


def _write_linked(release: Path, published: Published) -> None:
    """Write both linked tables in canonical order, with equal secrets of a group on one line."""
    (secret,) = [one["name"] for one in published.facts["columns"] if one["role"] == "sensitive"]
    rows, secrets = canonical(*linked_texts(published, secret))
    counts = Counter(secrets)
    tables = {
        "data.csv": [published.names, *([*cells, group] for cells, group in rows)],
        "sensitive.csv": [
            [published.facts["link"], secret, "count"],
            *([*one, *value, count] for (*one, value), count in counts.items()),
        ],
    }
    for name, lines in tables.items():
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(lines)
        (release / name).write_text(text.getvalue(), encoding="utf-8", newline="")


def _items(lines: list[dict[str, Any]], groups: bool) -> set[str]:
    from tests.naive.disassociation import items_below, leaves_of

    if groups:
        return {item for line in lines for basket in line["baskets"] for item in basket}.union(
            *(line["sensitive"] for line in lines)
        )
    named = {item for line in lines for leaf in leaves_of(line) for item in leaf["terms"]}
    return named.union(*(items_below(line) for line in lines))


def _write_baskets(release: Path, published: Published) -> None:
    form, _, rest = str(published.facts["layout"]).partition(":")
    baskets = sorted(sorted(basket) for basket in published.baskets)
    if form == "lines":
        text = "".join(f"{(rest or ' ').join(basket)}\n" for basket in baskets)
        (release / "data.dat").write_text(text, encoding="utf-8")
    elif form == "spmf":
        text = "".join(f"{''.join(f'{item} -1 ' for item in basket)}-2\n" for basket in baskets)
        (release / "data.spmf").write_text(text, encoding="utf-8")
    else:
        (release / "data.csv").write_text(_csv(form, rest, baskets, published), encoding="utf-8", newline="")


def _csv(form: str, rest: str, baskets: list[list[str]], published: Published) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    if form == "long":
        writer.writerow(next(csv.reader([rest])))
        for number, basket in enumerate(baskets):
            writer.writerows([number + 1, item] for item in basket or [""])
    elif form == "column":
        writer.writerow([rest])
        writer.writerows([published.facts.get("separator", "|").join(basket)] for basket in baskets)
    else:
        items = sorted(set().union(*baskets))
        writer.writerow(items)
        writer.writerows([int(item in basket) for item in items] for basket in baskets)
    return text.getvalue()
