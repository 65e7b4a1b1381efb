"""The picture of the lattice: every vector once, the lines of Samarati's figure, and the solution marked."""

import re
from dataclasses import replace

from tests.contract.data import people, with_hierarchy
from tests.tables import column

from shoal.data.role import Role
from shoal.data.table import Table
from shoal.methods.samarati import Samarati
from shoal.pipeline import carry_out
from shoal.report.lattice_picture import Lattice, drawn, lattice_of
from shoal.report.page import render


def seed_table() -> Table:
    """Race in two levels and zip code in three, as on the seed's slide: a lattice of height 3."""
    zips = [f"{941}{place % 4 + 38}" for place in range(24)]
    races = ["asian", "black", "white"] * 8
    return Table(
        (
            with_hierarchy(column("race", races), "suppress"),
            with_hierarchy(column("zip", zips), "prefix:4"),
            column("ill", ["a", "b"] * 12, Role.SENSITIVE),
        )
    )


def test_the_lattice_of_the_seed() -> None:
    run = carry_out(Samarati(k=2), seed_table())
    found = lattice_of(run.original, run.release.details, run.trace.notes)
    assert isinstance(found, Lattice)
    assert found.columns == ("race", "zip")
    heights = [one.hierarchy.height for one in run.original.quasi]
    assert sum(map(len, found.ranks)) == (heights[0] + 1) * (heights[1] + 1)
    assert len(found.ranks) == sum(heights) + 1
    assert found.published == tuple(run.release.details["levels"][name] for name in found.columns)
    assert found.published in found.solutions
    picture = drawn(found)
    assert picture.count("<circle") == sum(map(len, found.ranks))
    assert picture.count('class="node published"') == 1
    # Each vector has a line to each that is one level coarser in one column.
    edges = sum(
        level < height
        for rank in found.ranks
        for one in rank
        for level, height in zip(one, heights, strict=True)
    )
    assert picture.count("<line") == edges
    assert "▸ ⟨" in picture
    page = render(run)
    assert "The lattice of levels" in page
    assert len(re.findall(r'class="node published"', page)) == 1


def test_large_lattices_and_other_releases_have_no_picture() -> None:
    run = carry_out(Samarati(k=3, max_suppressed=40), people())
    assert lattice_of(run.original, run.release.details, {}) is None
    parts = {"solutions": [{"levels": {"race": "0 to 1", "zip": 2}}]}
    assert lattice_of(run.original, {"levels": {"race": "0 to 1", "zip": 2}}, parts) is None
    bare = Table(tuple(replace(one, hierarchy=None) for one in run.original.columns))
    assert lattice_of(bare, run.release.details, run.trace.notes) is None
