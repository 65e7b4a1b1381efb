"""Options come from declared fields, and from nowhere else."""

import dataclasses
import inspect
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from cyclopts import App, CycloptsError, Parameter
from pydantic import Field

from shoal import registry
from shoal.cli.command_anonymize import command_of
from shoal.cli.options import Section, fields_of, flattened, only_typed, pairs_of, split_names
from shoal.cli.program import pages, program
from shoal.errors import WrongUse
from shoal.io.reading import Reading
from shoal.option_names import as_typed
from shoal.parameters import Parameters
from shoal.recipe import Output, Roles


class Dish(Parameters):
    """A declaration with a field of every shape."""

    size: int = Field(ge=1, le=9, description="how many eat")
    style: Literal["raw", "fried"] = Field(default="raw", description="how it is made")
    salt: bool = Field(default=True, description="add salt")
    cold: bool = Field(default=False, description="serve it cold")
    note: str | None = Field(default=None, description="what to say")
    spices: tuple[str, ...] = Field(default=(), description="what to add")
    weights: dict[str, float] = Field(default_factory=dict, description="how much of each")
    steps: dict[str, tuple[str, ...]] = Field(default_factory=dict, description="what to do with each")


def cook(*arguments: str) -> Any:
    def command(guest: str, /, *, dish: Dish, loud: bool = False) -> tuple[str, Dish, bool]:
        return guest, dish, loud

    app = App(result_action="return_value")
    app.default(flattened(command, dish=Section(Dish, "Method")))
    return app(arguments, exit_on_error=False, print_error=False)


def test_every_shape_of_field_becomes_an_option() -> None:
    guest, dish, loud = cook(
        *["Ann", "--size", "3", "--style", "fried", "--no-salt", "--cold", "--note", "hot", "--loud"],
        *["--spices", "a,b", "--spices", "c", "--weight", "a=1", "--weight", "b=2.5", "--step", "a=cut,dice"],
    )
    assert (guest, loud) == ("Ann", True)
    assert dish == Dish(
        size=3,
        style="fried",
        salt=False,
        cold=True,
        note="hot",
        spices=("a", "b", "c"),
        weights={"a": 1, "b": 2.5},
        steps={"a": ("cut", "dice")},
    )


def test_what_is_not_given_has_its_declared_default() -> None:
    assert cook("Ann", "--size", "3")[1] == Dish(size=3)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("Ann --size 10", "size must be at most 9, not 10"),
        ("Ann --size 3 --weight a", "--weight takes NAME=VALUE, not 'a'"),
        ("Ann --size 3 --weight a=1 --weight a=2", "--weight is given twice for 'a'"),
        ("Ann --size 3 --weight a=much", "weights.a must be"),
    ],
)
def test_a_wrong_value_is_named(arguments: str, said: str) -> None:
    with as_typed(), pytest.raises(WrongUse, match=said.replace("(", r"\(")):
        cook(*arguments.split())


@pytest.mark.parametrize(
    "arguments", ["Ann", "Ann --size many", "Ann --size 3 --style boiled", "Ann --size 3 --warm"]
)
def test_the_parser_refuses(arguments: str) -> None:
    with pytest.raises(CycloptsError):
        cook(*arguments.split())


def test_a_comma_inside_a_name_has_a_backslash() -> None:
    assert split_names(r"income\, yearly,age") == ("income, yearly", "age")
    assert pairs_of([r"a\=b=1,2"], "--order") == {"a=b": "1,2"}


def test_help_of_a_dataclass_is_its_docstring() -> None:
    texts = {field.name: field.help for field in fields_of(Reading)}
    assert set(texts) == {field.name for field in dataclasses.fields(Reading)}
    assert all(texts.values())
    assert not any("``" in text for text in texts.values())


@pytest.mark.parametrize("kind", [Reading, Roles, Output])
def test_every_shared_field_says_what_it_does(kind: type) -> None:
    assert all(field.help for field in fields_of(kind))


@pytest.mark.parametrize("name", registry.METHODS)
def test_options_of_a_method_are_its_fields(name: str) -> None:
    kind = registry.load("method", name)
    offered = inspect.signature(command_of(name)).parameters
    for field in kind.model_fields:
        assert (field in offered) == (field != "promises")
    for option in list(offered.values())[1:]:
        assert option.kind is inspect.Parameter.KEYWORD_ONLY


@pytest.mark.parametrize("name", registry.METHODS)
def test_no_option_of_a_method_hides_a_shared_one(name: str) -> None:
    names: list[str] = []
    for parameter in inspect.signature(command_of(name)).parameters.values():
        declared = [meta for meta in parameter.annotation.__metadata__ if isinstance(meta, Parameter)]
        names += (declared[0].name or ()) if declared else ()  # type: ignore[operator]
    assert len(set(names)) == len(names)


def test_a_section_can_be_narrowed() -> None:
    section = Section(Roles, "Items", only=("sensitive", "insensitive"))
    assert [option.name for option in section.parameters()] == ["sensitive", "insensitive"]
    assert section.built({"sensitive": ("a",), "other": 1}) == Roles(sensitive=("a",))


def test_annotations_are_kept() -> None:
    def command(guest: Annotated[str, Parameter(help="who")], /, *, dish: Dish) -> None: ...

    signature = inspect.signature(flattened(command, dish=Section(Dish, "Method")))
    assert list(signature.parameters) == ["guest", *Dish.model_fields]
    assert signature.parameters["guest"].annotation.__metadata__[0].help == "who"


def test_an_equals_sign_in_the_name_of_a_pair(shoal: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "w.csv"
    path.write_text("a=b,s\n1,x\n2,y\n1,x\n2,y\n")
    call = (
        "anonymize",
        "mondrian",
        path,
        "--quasi",
        "a=b",
        "--sensitive",
        "s",
        "--k",
        2,
        "--no-report",
        "--force",
    )
    call += ("-o", tmp_path / "out")
    assert shoal(*call, "--weight", "a=b=2").code == 0
    assert shoal(*call, "--order", r"a\=b=1,2").code == 0
    answer = shoal(*call, "--order", "a=b=1,2")
    assert (answer.code, r"with a backslash before it: \=." in answer.err) == (2, True)


def offered(names: tuple[str, ...]) -> set[str]:
    """The options of a command."""
    app = program(names)
    for name in names:
        app = app[name]
    return {flag for one in app.assemble_argument_collection() for flag in one.names if flag.startswith("-")}


@pytest.mark.parametrize("names", [("anonymize", "mondrian"), ("verify",)])
def test_an_option_that_is_typed_is_offered(names: tuple[str, ...]) -> None:
    every = offered(names)
    for flag in every:
        with only_typed([*names, f"{flag}=1"]):
            found = offered(names)
        assert flag in found
        assert found < every


@pytest.mark.parametrize("names", [page for page in pages() if page], ids=" ".join)
def test_a_command_is_read_alike_with_few_options_and_with_all(names: tuple[str, ...]) -> None:
    app = program(names)
    for name in names:
        app = app[name]
    for _, *tokens in map(shlex.split, app.help_epilogue.replace("\\\n", " ").splitlines()[1:]):
        with only_typed(tokens):
            few = program(tokens)
        assert given(few, tokens) == given(program(tokens), tokens)


def given(app: App, tokens: list[str]) -> dict[str, object]:
    """What a command is called with."""
    _, bound, _ = app.parse_args(tokens, exit_on_error=False, print_error=False)
    return dict(bound.arguments)
