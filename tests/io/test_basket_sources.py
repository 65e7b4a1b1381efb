"""The same baskets in every form that is read, by every door; and what is not understood is refused."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import sparse

import shoal
from shoal.data.baskets import Baskets
from shoal.data.profile import BasketsProfile
from shoal.data.role import Roles
from shoal.errors import BadData, ShoalWarning, WrongUse
from shoal.io.baskets.layouts import WHITE
from shoal.io.baskets.load import load_baskets, read_baskets
from shoal.io.reading import Reading

ITEMS = ("beer", "milk", "red wine")
ROWS = [["milk", "beer"], ["red wine"], [], ["beer", "milk", "red wine"], ["milk"]]
CELLS = np.array([[item in row for item in ITEMS] for row in ROWS])
LONG = [(f"c{place}", item) for place, row in enumerate(ROWS) for item in row or [None]]
ONES = pl.DataFrame({item: CELLS[:, place] for place, item in enumerate(ITEMS)})
LISTS = pl.DataFrame({"id": [7, 3, 9, 1, 4], "bought": ROWS}, schema_overrides={"bought": pl.List(pl.String)})
PAIRS = pl.DataFrame(LONG, schema={"basket": pl.String, "item": pl.String}, orient="row")
Form = tuple[Any, dict[str, Any]]


def in_memory() -> dict[str, Form]:
    """The baskets as values of Python, and what must be told of them."""
    named = {"names": ITEMS}
    return {
        "lists": (ROWS, {}),
        "sets": ([frozenset(row) for row in ROWS], {}),
        "tuples": (tuple(map(tuple, ROWS)), {}),
        "dictionary": (dict(enumerate(ROWS)), {}),
        "arrays of items": ([np.array(row, dtype=object) for row in ROWS], {}),
        "long frame": (PAIRS, {}),
        "long frame, other order": (PAIRS.select("item", "basket"), {"baskets": "long:basket,item"}),
        "long frame, lazy": (PAIRS.lazy(), {}),
        "lists in a frame": (LISTS, {}),
        "series of lists": (LISTS["bought"], {}),
        "texts in a frame": (
            pl.DataFrame({"bought": ["|".join(row) for row in ROWS]}),
            {"baskets": "column:bought"},
        ),
        "bools": (ONES, {}),
        "0 and 1": (ONES.cast(pl.Int8), {}),
        "fractions": (ONES.cast(pl.Float64), {"baskets": "matrix"}),
        "True and False as texts": (ONES.with_columns(pl.all().cast(pl.String)), {"baskets": "matrix"}),
        "array": (CELLS, named),
        "array of numbers": (CELLS.astype(float), named),
        "array of objects": (CELLS.astype(int).astype(object), named | {"baskets": "matrix"}),
        "array of texts": (CELLS.astype(str), named),
        "rows of 0 and 1": (CELLS.astype(int).tolist(), named | {"baskets": "matrix"}),
        **{
            kind: (getattr(sparse, kind)(CELLS.astype(np.int8)), named)
            for kind in ("csr_matrix", "csc_array")
        },
        "coo_array": (sparse.coo_array(CELLS), named),
        "lil_matrix": (sparse.lil_matrix(CELLS.astype(float)), named),
    }


def of_pandas() -> dict[str, Form]:
    pandas = pytest.importorskip("pandas")
    pyarrow = pytest.importorskip("pyarrow")
    ones = pandas.DataFrame(CELLS, columns=ITEMS, index=[5, 5, 9, 1, 2])
    pairs = pandas.DataFrame(LONG, columns=["basket", "item"])
    return {
        "bools": (ones, {}),
        "0 and 1": (ones.astype(int), {"baskets": "matrix"}),
        "nullable": (ones.astype("boolean"), {}),
        "nullable numbers": (ones.astype("Int64"), {}),
        "sparse": (ones.astype(pandas.SparseDtype(bool, False)), {}),
        "sparse numbers": (ones.astype(int).astype(pandas.SparseDtype(int, 0)), {"baskets": "matrix"}),
        "sparse in part": (ones.astype({"beer": pandas.SparseDtype(bool, False)}), {}),
        "sparse, mostly 1": (ones.astype(pandas.SparseDtype(bool, True)), {}),
        "long": (pairs, {}),
        "categories": (pairs.astype("category"), {}),
        "lists": (pandas.DataFrame({"bought": ROWS}), {}),
        "sets": (pandas.DataFrame({"bought": list(map(set, ROWS))}), {}),
        "series": (pandas.Series(ROWS, index=list("abcde")), {}),
        "arrow, long": (pyarrow.table(pairs), {}),
        "arrow, lists": (pyarrow.table({"bought": ROWS}), {}),
        "arrow, bools": (ONES.to_arrow(), {}),
    }


def on_disk(folder: Path) -> dict[str, Form]:
    """The baskets in files, and what must be told of them."""

    def text(name: str, content: str) -> str:
        (folder / name).write_text(content)
        return str(folder / name)

    matrix = "\n".join(",".join(str(int(cell)) for cell in row) for row in CELLS) + "\n"
    words = "\n".join(",".join(map(str, row.tolist())) for row in CELLS) + "\n"
    pairs = "".join(f"{basket},{item or ''}\n" for basket, item in LONG)
    header = ",".join(ITEMS) + "\n"
    PAIRS.write_parquet(folder / "long.parquet")
    LISTS.write_parquet(folder / "lists.parquet")
    ONES.write_parquet(folder / "ones.parquet")
    ONES.write_ipc(folder / "ones.arrow")
    PAIRS.write_excel(folder / "long.xlsx")
    return {
        "lines": (text("l.dat", "".join("|".join(row) + "\n" for row in ROWS)), {"separator": "|"}),
        "long": (text("long.csv", "basket,item\n" + pairs), {}),
        "long without a header": (text("bare.csv", pairs), {"baskets": "long", "names": ("who", "what")}),
        "names that say it": (text("bare2.csv", pairs), {"names": ("basket", "item")}),
        "matrix": (text("matrix.csv", header + matrix), {}),
        "matrix without a header": (text("bare3.csv", matrix), {"names": ITEMS}),
        "True and False": (text("words.csv", header + words), {}),
        "True and False without a header": (text("bare4.csv", words), {"baskets": "matrix", "names": ITEMS}),
        "TRUE and FALSE": (text("upper.csv", header + words.upper()), {"baskets": "matrix"}),
        "1.0 and 0.0": (text("f.csv", header + matrix.replace("0", "0.0").replace("1", "1.0")), {}),
        "column": (
            text("c.csv", "bought\n" + "".join(f'"{"|".join(row)}"\n' for row in ROWS)),
            {"baskets": "column:bought"},
        ),
        "column without a header": (
            text("c2.csv", "".join(f'"{"|".join(row)}"\n' for row in ROWS)),
            {"baskets": "column:bought", "names": ("bought",)},
        ),
        **{name: (str(folder / name), {}) for name in ("long.parquet", "lists.parquet", "long.xlsx")},
        **{name: (str(folder / name), {}) for name in ("ones.parquet", "ones.arrow")},
    }


def texts(vocabulary: tuple[str, ...], rows: list[list[int]]) -> list[tuple[str, ...]]:
    return [tuple(vocabulary[code] for code in row) for row in rows]


WANTED = [tuple(sorted(row)) for row in ROWS]


def check(source: Any, shown: dict[str, Any]) -> None:
    """All doors give the same baskets."""
    baskets = read_baskets(source, **shown)
    assert [baskets.basket(row) for row in range(len(baskets))] == WANTED
    assert baskets.vocabulary == ITEMS
    layout = shown.get("baskets")
    reading = Reading(separator=shown.get("separator"), names=shown.get("names"))
    profile = shoal.inspect(source, baskets=layout or baskets.layout, reading=reading)
    assert isinstance(profile, BasketsProfile)
    assert (profile.baskets, profile.items) == (5, 3)
    run = shoal.anonymize(
        source,
        "km-generalization",
        k=2,
        m=1,
        baskets=layout,
        reading=reading,
        hierarchies={"items": "balanced:2"},
    )
    assert isinstance(run.original, Baskets)
    assert run.original.items.tolist() == baskets.items.tolist()
    engine = shoal.engines.Stream("1GB")
    try:
        if isinstance(source, str) and (baskets.layout == "matrix" or source.endswith(".xlsx")):
            with pytest.raises(WrongUse):
                engine.load_baskets(source, layout, reading, Roles())
            return
        encoded = engine.load_baskets(source, layout, reading, Roles())
        parted, remarks = encoded.baskets, encoded.remarks
        rows = parted.parts.collect()["items"].to_list()
        assert sorted(texts(parted.schema.vocabulary, rows)) == sorted(WANTED)
        assert parted.schema.layout == baskets.layout
        assert remarks == load_baskets(source, layout, reading).remarks
    finally:
        engine.close()


@pytest.mark.parametrize("form", in_memory())
def test_values_of_python(form: str) -> None:
    check(*in_memory()[form])


@pytest.mark.parametrize(
    "form",
    [
        "bools",
        "0 and 1",
        "nullable",
        "nullable numbers",
        "sparse",
        "sparse numbers",
        "sparse in part",
        "sparse, mostly 1",
        "long",
        "categories",
        "lists",
        "sets",
        "series",
        "arrow, long",
        "arrow, lists",
        "arrow, bools",
    ],
)
def test_pandas_and_arrow(form: str) -> None:
    check(*of_pandas()[form])


def test_files(tmp_path: Path) -> None:
    for source, shown in on_disk(tmp_path).values():
        check(source, shown)


def test_databases(tmp_path: Path) -> None:
    import sqlite3

    with sqlite3.connect(tmp_path / "shop.db") as database:
        database.execute("create table sales (basket text, item text)")
        database.executemany("insert into sales values (?, ?)", LONG)
        database.execute("create table ones (beer integer, milk integer, [red wine] integer)")
        database.executemany("insert into ones values (?, ?, ?)", CELLS.astype(int).tolist())
    database.close()
    place = f"sqlite:///{tmp_path / 'shop.db'}"
    for source, shown in (
        (f"{place}?table=sales", {}),
        (f"{place}?table=ones", {}),
        (place, {"query": "select item, basket from sales", "baskets": "long:basket,item"}),
    ):
        baskets = read_baskets(source, **shown)
        assert sorted(baskets.basket(row) for row in range(len(baskets))) == sorted(WANTED)
    run = shoal.anonymize(f"{place}?table=sales", "disassociation", k=2, m=1)
    assert len(run.original) == 5
    with pytest.raises(WrongUse, match="A query is for a database"):
        read_baskets(tmp_path / "a.dat", query="select 1")


@pytest.mark.parametrize(
    ("columns", "call"),
    [
        (["item", "basket"], "baskets='long:basket,item'"),
        (["a", "b"], "baskets='long:a,b'"),
        (["product", "customer_id"], "baskets='long:customer_id,product'"),
        (["item_id", "product"], "baskets='long:item_id,product'"),
    ],
)
def test_two_columns_are_never_guessed(tmp_path: Path, columns: list[str], call: str) -> None:
    frame = pl.DataFrame({columns[0]: ["a", "b", "a"], columns[1]: ["1", "2", "3"]})
    frame.write_parquet(tmp_path / "x.parquet")
    engine = shoal.engines.Stream("1GB")
    for source in (frame, frame.lazy(), frame.to_arrow(), str(tmp_path / "x.parquet")):
        for door in (
            lambda source=source: read_baskets(source),
            lambda source=source: shoal.anonymize(source, "disassociation", k=2),
            lambda source=source: shoal.anonymize(source, "disassociation", k=2, engine=engine),
        ):
            with pytest.raises(WrongUse, match=r"do not say which one tells the basket") as caught:
                door()
            assert call in str(caught.value)
    engine.close()


NO_CELL = r"A matrix of baskets holds 0 and 1, or True and False"


@pytest.mark.parametrize(
    ("source", "shown", "message"),
    [
        ("bread milk", {}, "no such file"),
        (b"bread", {}, "not from a bytes"),
        ((row for row in ROWS), {}, "an iterator, which can be read once: make a list of it"),
        (iter(ROWS), {}, "an iterator"),
        (7, {}, "not from a int"),
        ({"basket": [1, 1], "item": ["a", "b"]}, {}, "holds the columns of a table"),
        ({1: "milk"}, {}, "Basket 1 is 'milk'"),
        ([{"basket": 1, "item": "a"}], {}, "not a list or set of items"),
        ([[["a"], ["b"]]], {}, r"\['a'\] is not an item"),
        ([[b"a"]], {}, "is not an item"),
        ([[1, 0, 1], [0, 0, 1]], {}, 'say baskets="matrix" or baskets="lines"'),
        ([["a"]], {"names": ["x"]}, "omit them"),
        (PAIRS, {"names": ["x", "y"]}, "names of its own"),
        (np.zeros((2, 2, 2)), {}, "two dimensions.*this has 3"),
        (np.array(["a", "b"]), {}, "two dimensions.*this has 1"),
        (np.array([[0, 1], [2, 0]]), {}, f"row 2, column 1 of the matrix holds 2. {NO_CELL}"),
        (np.array([[0, 1], [np.nan, 0]]), {}, "row 2, column 1 of the matrix holds nan"),
        (np.array([["0", "x"]]), {}, "row 1, column 2 of the matrix holds 'x'"),
        (np.array([[0, None]], dtype=object), {}, "column 2 of the matrix holds None"),
        (np.array([["2020-01-01"]], dtype="M8[D]"), {}, "of type datetime64"),
        (np.zeros((0, 3)), {}, "the matrix is empty"),
        (CELLS, {"names": ["a"]}, "3 columns, and 1 names"),
        (CELLS, {"names": ["a", "a", "b"]}, "two items are called 'a'"),
        (CELLS, {"baskets": "long"}, "An array is read as a matrix"),
        (sparse.csr_array(np.array([[0, 0], [0, 3]])), {}, "row 2, column 2 of the matrix holds 3"),
        (sparse.coo_array(([1, 1], ([0, 0], [1, 1])), shape=(1, 2)), {}, "column 2 of the matrix holds 2"),
        (
            pl.DataFrame({"a": [0, 1], "b": [1, 7]}),
            {"baskets": "matrix"},
            "column 'b': row 2: the cell 7 is neither",
        ),
        (
            pl.DataFrame({"a": [0, None]}),
            {"baskets": "matrix"},
            "column 'a': row 2: a missing cell is neither",
        ),
        (pl.DataFrame({"a": ["x"]}), {}, "baskets='column:a'"),
        (ONES.with_columns(id=pl.Series([7, 3, 9, 1, 4])), {}, "or leave columns out until only 0 and 1"),
    ],
)
def test_what_is_not_understood_is_refused(source: Any, shown: dict[str, Any], message: str) -> None:
    with pytest.raises((WrongUse, BadData), match=message):
        read_baskets(source, **shown)


@pytest.mark.parametrize(
    ("source", "shown", "said"),
    [
        ([["cream cheese ", "a"], ["a"]], {}, r"Blanks around an item were taken away: 'cream cheese'\.$"),
        (pl.DataFrame({"id": [1, 2], "item": [" b", "a"]}), {}, r"Blanks around an item .*'b'"),
        (pl.DataFrame({"id": ["1 ", "2"], "item": ["b", "a"]}), {}, "names of baskets in column 'id'"),
        (pl.DataFrame({"x": [["b ", "a"], ["b"]]}), {}, "Blanks around an item"),
        ('id,item\n1,"b "\n2,b\n', {}, "Blanks around an item"),
        (pl.DataFrame({"a ": [1, 1], "b": [1, 0]}), {}, "Blanks around an item"),
        ([["a", None], ["b", float("nan")]], {}, "missing items .*left out"),
        ([["a", " "], ["a"]], {}, "missing items"),
        (pl.DataFrame({"x": [["a", None], ["a"]]}), {}, "missing items"),
        (pl.DataFrame({"x": [[1.5, float("nan")], [2.0]]}), {}, "missing items"),
        (pl.DataFrame({"x": [["a", None], ["b"], []]}), {}, "missing items"),
        (pl.DataFrame({"x": [["a", ""], ["b"], [], []]}), {}, "missing items"),
        (pl.DataFrame({"x": [["a"], None, []]}), {}, "baskets are missing .*without items"),
        ([["a"], None, []], {}, "baskets are missing .*without items"),
        ([["a\n", "b"], ["b", "a"]], {}, r"Blanks around an item .*'a'"),
        (pl.DataFrame({"x": [["\xa0a", "b"], ["b", "a"]]}), {}, r"Blanks around an item .*'a'"),
        (pl.DataFrame({"id": [1, 2], "item": ["b\x0b", "a"]}), {}, r"Blanks around an item .*'b'"),
        (pl.DataFrame({"a\u3000": [1, 1], "b": [1, 0]}), {}, r"Blanks around an item .*'a'"),
        ("a\u2003 b\nb a\n", {"baskets": "lines"}, r"Blanks around an item .*'a'"),
        ("\x85,a\xa0, b\nb,a\n", {"baskets": "lines:,"}, r"Blanks around an item .*'a'"),
        ("1,milk\n1,bread\n2,milk\n", {"baskets": "long"}, r"first line \('1', 'milk'\) .* `names`"),
        ("a,milk\nb,bread\nc,milk\n", {"baskets": "long"}, "looks like data"),
        ("1,beer\n1,milk\n2,beer\n", {"baskets": "long:1,beer"}, r"first line \('1', 'beer'\) .* `names`"),
        ("a,beer,x\nb,milk,y\nc,beer,x\n", {"baskets": "long:a,beer"}, r"first line \('a', 'beer', 'x'\)"),
        ("a,milk\na,bread\nb,bread\n", {"baskets": "long:a,milk"}, "looks like data"),
        ("1,0,1\n0,1,0\n", {}, "called by the numbers"),
        (CELLS, {}, "called by the numbers"),
    ],
)
def test_what_is_changed_is_said(tmp_path: Path, source: Any, shown: dict[str, Any], said: str) -> None:
    if isinstance(source, str):
        (tmp_path / "x.csv").write_text(source)
        source = str(tmp_path / "x.csv")
    with pytest.warns(ShoalWarning, match=said) as caught:
        baskets = read_baskets(source, **shown)
    assert [Path(warning.filename).name for warning in caught] == [Path(__file__).name]
    assert not {"nan", "None", "NaN", ""} & set(baskets.vocabulary)
    with pytest.warns(ShoalWarning, match=said):
        run = shoal.anonymize(source, "disassociation", k=2, m=1, baskets=shown.get("baskets"))
    assert any(str(caught[0].message) == warning for warning in run.warnings)
    with pytest.warns(ShoalWarning, match=said):
        shoal.inspect(source, baskets=shown.get("baskets") or baskets.layout)
    engine = shoal.engines.Stream("1GB")
    if baskets.layout != "matrix" or not isinstance(source, str):
        remarks = engine.load_baskets(source, shown.get("baskets"), None, Roles()).remarks
        assert remarks == load_baskets(source, shown.get("baskets")).remarks
    engine.close()


def test_nothing_is_said_of_plain_baskets(tmp_path: Path) -> None:
    (tmp_path / "x.dat").write_text("a, b\n\nb,c\n")
    for source, shown in (
        (ROWS, {}),
        (PAIRS, {}),
        (LISTS, {}),
        (str(tmp_path / "x.dat"), {"baskets": "lines:,"}),
    ):
        assert load_baskets(source, shown.get("baskets")).remarks == ()


@pytest.mark.parametrize("white", list(WHITE))
def test_white_space_around_items_is_no_part_of_them(white: str) -> None:
    assert not white.strip()
    assert load_baskets([[f"{white}a{white}", f"a{white}b"]]).baskets.vocabulary == ("a", f"a{white}b")


def test_a_mark_that_nobody_sees_is_no_white_space() -> None:
    assert {letter for letter in map(chr, range(0x110000)) if letter.isspace()} == set(WHITE)
    assert read_baskets([["a\ufeff", "a"]]).vocabulary == ("a", "a\ufeff")


@pytest.mark.parametrize("cells", [[1, 0], [True, False], ["1", "0"]])
@pytest.mark.parametrize("shown", [None, "matrix"])
def test_items_of_a_matrix_may_look_like_patterns(cells: list[Any], shown: str | None) -> None:
    frame = pl.DataFrame({"^a$": cells, "*": cells[::-1], "b": cells})
    for source in (frame, frame.to_pandas()):
        assert read_baskets(source, baskets=shown).vocabulary == ("*", "^a$", "b")


def test_sensitive_items_are_named_with_or_without_blanks() -> None:
    for name in ("cream cheese", "cream cheese "):
        baskets = load_baskets([["cream cheese ", "a"]], roles=Roles(sensitive=(name,))).baskets
        assert baskets.vocabulary[baskets.sensitive[0]] == "cream cheese"


def test_whole_numbers_are_items_without_a_point() -> None:
    assert read_baskets([[3.0, 4], [np.float64(5)]]).vocabulary == ("3", "4", "5")
    assert read_baskets([[3.5, 4.0]]).vocabulary == ("3.5", "4.0")
    assert read_baskets([[np.int64(7), np.str_("x"), True]]).vocabulary == ("7", "True", "x")


def test_published_items_have_no_blanks_around_them(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text('id,item\n1,"a "\n2,a\n')
    said = "the item 'a' has blanks around it"
    with pytest.raises(BadData, match=said):
        shoal.verify(tmp_path / "x.csv", promises=[{"model": "km-anonymity", "k": 2, "m": 1}])
    with pytest.raises(BadData, match=said):
        shoal.engines.Stream("1GB").open_published(tmp_path / "x.csv", Baskets, None, Roles(), None)


def test_names_are_for_tables_without_a_header(tmp_path: Path) -> None:
    (tmp_path / "x.dat").write_text("a b\n")
    with pytest.raises(WrongUse, match="layout lines have no columns"):
        read_baskets(tmp_path / "x.dat", names=["a", "b"])
    (tmp_path / "x.csv").write_text("1,milk\n1,bread\n2,milk\n")
    with pytest.raises(WrongUse, match=r"`baskets`|baskets="):
        read_baskets(tmp_path / "x.csv", names=["a", "b"])
    assert len(read_baskets(tmp_path / "x.csv", baskets="long", names=["a", "b"]).items) == 3
    run = shoal.anonymize(tmp_path / "x.csv", "disassociation", k=2, m=1, names=["basket", "item"])
    assert len(run.original.items) == 3
    assert run.recipe["source"] == {"reading": {"names": ("basket", "item")}}
