"""The tree shows what there is: in these folders, a module without an underscore is in the registry or a base class."""

from collections import Counter
from pathlib import Path

import pytest

from shoal import registry

SOURCE = Path(__file__).resolve().parents[1] / "src" / "shoal"

ROOMS = {
    "methods": (registry.METHODS, {"method", "table_method"}),
    "models": (registry.MODELS, {"model"}),
    "measures": (registry.MEASURES, {"measure"}),
    "attacks": (registry.ATTACKS, {"attack"}),
    "preparation": (registry.TRANSFORMS, {"transform"}),
}
"""Each folder, the table of the registry with its entries, and its base classes."""


def listed(room: str) -> set[str]:
    """The modules or folders in a folder that the registry names."""
    return {place.split(":")[0].split(".")[2] for place in ROOMS[room][0].values()}


@pytest.mark.parametrize("room", ROOMS)
def test_public_modules_are_entries_of_the_registry(room: str) -> None:
    found = {path.stem for path in (SOURCE / room).iterdir() if path.suffix == ".py" or path.is_dir()}
    public = {name for name in found if not name.startswith("_")}
    assert public == listed(room) | ROOMS[room][1]


@pytest.mark.parametrize("room", ROOMS)
def test_a_module_is_called_like_its_entry(room: str) -> None:
    places = {name: place.split(":")[0].split(".")[2] for name, place in ROOMS[room][0].items()}
    assert places == {name: name.replace("-", "_") for name in places}


def test_support_of_a_method_begins_with_an_underscore() -> None:
    folders = [
        path for path in (SOURCE / "methods").iterdir() if path.is_dir() and path.name != "__pycache__"
    ]
    loud = [
        path.relative_to(SOURCE).as_posix()
        for folder in folders
        for path in folder.glob("*.py")
        if path.stem != "method" and not path.stem.startswith("_")
    ]
    assert not loud


def test_no_two_modules_share_a_name_unless_they_are_parallel() -> None:
    """Parallel on purpose are entries of the registry, the parts of methods, the `load` modules of readers, and a
    kernel and its caller. Names that differ only by an underscore are the same.
    """
    parallel = {"method", "compiled", "publish", "distributed", "load"}
    places: dict[str, list[str]] = {}
    for path in SOURCE.rglob("*.py"):
        room = path.parent.name
        if room == "kernels" or path.stem.startswith("__") or (room in ROOMS and path.stem in listed(room)):
            continue
        places.setdefault(path.stem.lstrip("_"), []).append(path.relative_to(SOURCE).as_posix())
    twice = {stem: sorted(found) for stem, found in places.items() if len(found) > 1 and stem not in parallel}
    assert not twice


def test_no_two_measures_have_a_score_of_one_name() -> None:
    """Scores of all measures are shown side by side, on the terminal and as data."""
    names = Counter(
        score for measure in registry.MEASURES for score in registry.load("measure", measure).scores_named
    )
    twice = [name for name, times in names.items() if times > 1]
    assert not twice, f"scores of two measures, of which one needs another name: {twice}"
