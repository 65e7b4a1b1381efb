"""Random baskets in every layout, with sensitive and insensitive items and a hierarchy of items."""

import csv
import io
from random import Random
from typing import Any

from tests.soak import texts
from tests.soak.named import Facts, parameters

from shoal import registry

PLAIN = [*"abcdefghijkl", "wine", "beer", "hiv", "10", "2", "007"]
LAYOUTS = [
    "lines",
    "lines",
    "lines",
    "lines:,",
    "spmf",
    "long:id,item",
    "long:id,item",
    "column:items",
    "matrix",
]

Sets = list[list[str]]


def basket_case(random: Random, method: str) -> dict[str, Any]:
    """The parts of a case for a method of baskets."""
    layout = random.choice(LAYOUTS)
    items = _items(random, layout)
    baskets = _baskets(random, items)
    held = sorted({item for basket in baskets for item in basket})
    if layout == "matrix" and {item.lower() for item in held} <= {"0", "1", "false", "true"}:
        # A first line that is nothing but cells is a row, not a header.
        layout = "lines"
    owner = registry.load("method", method)
    wanted = random.choice([1, 1, 2, 3]) if owner.needs_sensitive or random.random() < 0.5 else 0
    support = {item: sum(item in basket for basket in baskets) for item in held}
    rare = sorted(held, key=lambda item: support[item])[: max(wanted, 3)]
    secrets = random.sample(rare if random.random() < 0.8 else held, min(len(held), wanted))
    rest = [item for item in held if item not in secrets]
    harmless = random.sample(rest, min(len(rest), random.choice([0, 0, 0, 1, 2])))
    facts = Facts(items=held, secrets=secrets)
    asked = parameters(random, method, owner.model_fields, facts, 0.4)
    for name in ("k", "p"):
        if asked.get(name, 0) > 4:
            asked[name] = 2
    hierarchies, files = _tree(random, held)
    name = {"spmf": "data.spmf", "lines": "data.dat"}.get(layout.partition(":")[0], "data.csv")
    return {
        "files": {name: _text(baskets, layout, held), **files},
        "recipe": {
            "source": {"path": name, "baskets": layout},
            "roles": {"sensitive": secrets, "insensitive": harmless},
            "hierarchies": hierarchies,
            "method": {"name": method, **asked},
        },
        "promises": [],
        "rows": [sorted(set(basket)) for basket in baskets],
    }


def _items(random: Random, layout: str) -> list[str]:
    count = random.choice([1, 2, 4, 6, 8, 12])
    if random.random() < 0.75:
        return random.sample(PLAIN, min(count, len(PLAIN)))
    avoided = {
        "lines": " \t\r\n\xa0\x1f",
        "lines:,": ",\r\n",
        "spmf": " \t\r\n\xa0\x1f",
        # Where every basket holds one item, any separator that occurs in items would split them.
        "column:items": "|;,\t \r\n",
    }.get(layout, "\r\n")
    usable = [
        text
        for text in texts.ODD
        # At the beginning of a file, U+FEFF is not an item.
        if text == text.strip()
        and text[:1] != "\ufeff"
        and text not in ("?", "NA", "-1", "-2")
        and not set(avoided) & set(text)
    ]
    if layout == "spmf":
        usable = [text for text in usable if text[0] not in "@#%"]
    return random.sample(usable, min(count, len(usable)))


def _baskets(random: Random, items: list[str]) -> Sets:
    count = (
        random.randint(1, 8)
        if random.random() < 0.25
        else random.randint(9, 60)
        if random.random() < 0.95
        else 250
    )
    shares = [random.choice([0.05, 0.1, 0.3, 0.5, 0.8]) for _ in items]
    found = [
        [item for item, share in zip(items, shares, strict=True) if random.random() < share]
        for _ in range(count)
    ]
    if random.random() < 0.5:
        found = [basket or [random.choice(items)] for basket in found]
    if random.random() < 0.3:
        found = random.choices(found[: max(1, count // 4)], k=count)
    return found if any(found) else [[items[0]], *found[1:]]


def _tree(random: Random, held: list[str]) -> tuple[dict[str, str], dict[str, bytes]]:
    kind = random.choice(["", "", "balanced:2", "balanced:3", "suppress", "file"])
    if kind != "file":
        return ({"items": kind}, {}) if kind else ({}, {})
    text = io.StringIO()
    writer = csv.writer(text, delimiter=";", lineterminator="\n")
    for place, item in enumerate(held):
        writer.writerow([item, f"kind{place // 2}", f"class{place // 4}", "*"])
    return {"items": "tree.csv"}, {"tree.csv": text.getvalue().encode()}


def _text(baskets: Sets, layout: str, held: list[str]) -> bytes:
    form, _, rest = layout.partition(":")
    if form == "lines":
        return "".join(f"{(rest or ' ').join(basket)}\n" for basket in baskets).encode()
    if form == "spmf":
        return "".join(f"{''.join(f'{item} -1 ' for item in basket)}-2\n" for basket in baskets).encode()
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    if form == "long":
        writer.writerow(rest.split(","))
        for number, basket in enumerate(baskets):
            writer.writerows([number + 1, item] for item in basket or [""])
    elif form == "column":
        writer.writerow(["n", rest])
        writer.writerows([number, "|".join(basket)] for number, basket in enumerate(baskets))
    else:
        writer.writerow(held)
        writer.writerows([int(item in basket) for item in held] for basket in baskets)
    return text.getvalue().encode()
