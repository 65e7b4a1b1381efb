"""A file that tells nothing proves nothing, in every form and on every engine."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.tables import table

from shoal import registry
from shoal.data.hierarchy import climb
from shoal.data.table import Table
from shoal.engines.stream import Stream
from shoal.errors import Infeasible
from shoal.models._promises import Promises
from shoal.models._release_checks import NOTHING
from shoal.models.hkp_coherence import HkpCoherence
from shoal.models.km_anonymity import KmAnonymity
from shoal.models.model import Model
from shoal.models.privacy_degree import PrivacyDegree
from shoal.pipeline import anonymize
from shoal.recipe import Roles
from shoal.verification import Asked, verify, verify_as_asked

STARS = {
    "a.csv": ("x,s\n*,*\n*,*\n", True),
    "b.csv": ("x,s\n*,*\n*,flu\n", False),
    "c.csv": ("x,other\n*,red\n*,*\n", False),
    "d.csv": ("x,other\n*,*\n*,*\n", True),
}


def engines() -> list[Callable[..., Any]]:
    def in_parts(path: Path, asked: Asked) -> Any:
        return verify_as_asked(path, asked, Stream("1GB"))

    def in_memory(path: Path, asked: Asked) -> Any:
        from shoal.verification import verify_as_asked

        return verify_as_asked(path, asked)

    return [in_memory, in_parts]


def refused(verdicts: Any) -> bool:
    said = [verdict for verdict in verdicts if verdict.model == NOTHING]
    assert all(not verdict.holds and "nothing is published" in verdict.offenders[0].why for verdict in said)
    return bool(said)


@pytest.mark.parametrize("name", STARS)
def test_tables_of_stars(name: str, tmp_path: Path) -> None:
    text, nothing = STARS[name]
    (tmp_path / name).write_text(text)
    roles = Roles(quasi=("x",), sensitive=("s",) if "s" in text else ())
    for judge in engines():
        asked = Asked(Promises(k=2), roles=roles)
        assert refused(judge(tmp_path / name, asked)) == nothing


@pytest.mark.parametrize("model", [KmAnonymity(k=2, m=2), HkpCoherence(h=0.5, k=2, p=1)])
def test_empty_baskets(model: Model, tmp_path: Path) -> None:
    path = tmp_path / "a.spmf"
    path.write_text("-2\n-2\n-2\n")
    for judge in engines():
        assert refused(judge(path, Asked(Promises(promises=(model,)), layout="spmf")))
    path.write_text("1 -1 -2\n1 -1 -2\n1 -1 -2\n")
    for judge in engines():
        assert not refused(judge(path, Asked(Promises(promises=(model,)), layout="spmf")))


def test_groups_and_clusters_without_an_item(tmp_path: Path) -> None:
    groups, clusters = tmp_path / "groups.jsonl", tmp_path / "clusters.jsonl"
    groups.write_text('{"baskets": [[], []], "sensitive": {}}\n')
    clusters.write_text('{"size": 5, "chunks": [], "terms": []}\n')
    disassociated = registry.load("model", "disassociation")(k=2, m=2)
    for judge in engines():
        assert refused(judge(groups, Asked(Promises(promises=(PrivacyDegree(p=2),)))))
        assert refused(judge(clusters, Asked(Promises(promises=(disassociated,)))))


def test_a_method_that_could_only_publish_stars(tmp_path: Path) -> None:
    data = table({"x": ["a", "b", "c"]})
    (one,) = data.columns
    data = Table((type(one)(one.name, one.role, one.domain, one.codes, climb(("a", "b", "c"), [])),))
    with pytest.raises(Infeasible, match="publishing nothing"):
        anonymize(data, "samarati", k=2)
    path = tmp_path / "a.csv"
    path.write_text("x\na\nb\nc\n")
    tree = {"x": climb(("a", "b", "c"), [])}
    with pytest.raises(Infeasible, match="publishing nothing"):
        anonymize(path, "samarati", k=2, quasi="x", hierarchies=tree, engine=Stream("1GB"))


def test_a_release_of_stars_is_broken(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x\n*\n*\n")
    verdicts = verify(tmp_path / "a.csv", k=2, quasi="x")
    assert [verdict.holds for verdict in verdicts] == [True, False]
