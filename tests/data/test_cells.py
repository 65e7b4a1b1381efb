"""Published cells can be read back, and nothing raw is taken for one."""

from hypothesis import given
from hypothesis import strategies as st

from shoal.data.published_syntax import looks_published, range_text, set_members, set_text

names = st.text(alphabet="ab|{}\\,[]", max_size=4)


@given(st.sets(names, min_size=2, max_size=5))
def test_sets_are_read_back(members: set[str]) -> None:
    text = set_text(members)
    assert looks_published(text)
    assert set_members(text) == sorted(members)


def test_one_value_is_itself() -> None:
    assert set_text(["a"]) == "a"
    assert range_text("5", "5") == "5"


def test_what_looks_published() -> None:
    assert all(map(looks_published, ["*", "[1,2]", "[15,20)", "{a|b}", "[1967-01-01,1967-02-01]"]))
    assert not any(map(looks_published, ["", "a", "5", "-", "a*b", "[draft]", "(unknown)"]))
