"""Synthetic data in files."""

from collections.abc import Callable
from pathlib import Path

import pytest

from shoal import registry
from shoal.cli.command_generate import generators
from shoal.io.baskets.load import read_baskets


def test_every_generator_has_a_command() -> None:
    assert sorted(kind.__name__ for kind in generators().values()) == sorted(
        registry.load("dataset", name).__name__ for name in registry.DATASETS
    )


def test_a_table(shoal: Callable[..., object], folder: Path) -> None:
    call = ("generate", "table", "--rows", 50, "--seed", 7)
    answer = shoal(*call, "-o", "one.csv")
    assert (answer.code, answer.out) == (0, "50 rows in one.csv\n")
    assert len((folder / "one.csv").read_text().splitlines()) == 51
    assert shoal(*call, "-o", "two.csv", "--quiet").out == ""
    assert (folder / "one.csv").read_bytes() == (folder / "two.csv").read_bytes()
    assert shoal("generate", "table", "--rows", 50, "--seed", 8, "-o", "three.csv").code == 0
    assert (folder / "one.csv").read_bytes() != (folder / "three.csv").read_bytes()
    assert shoal(*call, "-o", "one.parquet").code == 0


def test_baskets(shoal: Callable[..., object], folder: Path) -> None:
    answer = shoal("generate", "baskets", "--rows", 40, "--items", 20, "--density", 0.2, "-o", "baskets.dat")
    assert (answer.code, answer.out) == (0, "40 baskets in baskets.dat\n")
    assert len((folder / "baskets.dat").read_text().splitlines()) == 40


@pytest.mark.parametrize(
    ("name", "layout"),
    [("b.dat", "lines"), ("b.spmf", "spmf"), ("b.csv", "long"), ("b.parquet", "long"), ("b.dat.gz", "lines")],
)
def test_the_ending_tells_the_layout_of_baskets(
    shoal: Callable[..., object], folder: Path, name: str, layout: str
) -> None:
    call = ("generate", "baskets", "--rows", 40, "--items", 20, "--seed", 1)
    assert shoal(*call, "-o", "plain.dat").code == 0
    assert shoal(*call, "-o", name, "--force").code == 0
    read, plain = read_baskets(folder / name), read_baskets(folder / "plain.dat")
    assert read.layout.partition(":")[0] == layout
    assert read.vocabulary == plain.vocabulary
    assert read.items.tolist() == plain.items.tolist()


def test_an_ending_that_tells_no_layout_is_refused(shoal: Callable[..., object], folder: Path) -> None:
    answer = shoal("generate", "baskets", "--rows", 40, "-o", "b.xlsx")
    assert (answer.code, list(folder.iterdir())) == (2, [])
    assert "b.xlsx" in answer.err
