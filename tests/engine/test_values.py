"""Frozen dataclasses of ours are those of the standard library, but for when their methods are made."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

from workbench.engine import values

if TYPE_CHECKING:
    from collections.abc import Callable


def made_by(decorator: Callable[..., Any], *, slots: bool) -> Any:
    """Return a class with a field of every sort, and what it inherits from."""

    @decorator(frozen=True, slots=slots)
    class Base:
        """It."""

        id: str

    @decorator(frozen=True, slots=slots)
    class Row(Base):
        """It."""

        LEAST: ClassVar[int] = 3
        width: int = 2
        tags: list[str] = dataclasses.field(default_factory=list, compare=False)
        note: str = dataclasses.field(default="", repr=False, hash=False)
        late: int = dataclasses.field(default=0, kw_only=True)

        def __post_init__(self) -> None:
            if self.width < self.LEAST - 1:
                raise ValueError(f"{self.width} is too narrow")

    return Row


both = pytest.mark.parametrize("slots", [False, True])


@both
def test_a_value_behaves_as_the_standard_library_has_it(slots: bool) -> None:
    ours, theirs = made_by(values.dataclass, slots=slots), made_by(dataclasses.dataclass, slots=slots)
    for given, named in (
        (("a",), {}), (("a", 3), {}), (("a",), {"tags": ["x"]}), (("a",), {"note": "n", "late": 2}), (("b", 2), {}),
    ):  # fmt: skip
        row, other = ours(*given, **named), theirs(*given, **named)
        assert repr(row).rpartition(".")[2] == repr(other).rpartition(".")[2]
        assert dataclasses.asdict(row) == dataclasses.asdict(other)
        assert (row == ours("a")) is (other == theirs("a"))
        assert hash(row) == hash(other)
        assert dataclasses.replace(row, width=9) == ours(*given[:1], **{**named, "width": 9})
    assert ours.__match_args__ == theirs.__match_args__
    assert ours.__dataclass_params__.frozen
    assert all(base.__dataclass_params__.frozen for base in ours.__mro__[1:-1])
    assert hasattr(ours("a"), "__dict__") is hasattr(theirs("a"), "__dict__")


@both
def test_what_is_wrong_is_refused_from_the_first_value_on(slots: bool) -> None:
    row = made_by(values.dataclass, slots=slots)
    with pytest.raises(TypeError, match=r"Row.__init__.* missing 1 required positional argument: 'id'"):
        row()
    with pytest.raises(ValueError, match="1 is too narrow"):
        row("a", 1)
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'id'"):
        row("a").id = "b"
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot delete field 'id'"):
        del row("a").id


@both
def test_a_value_is_copied(slots: bool) -> None:
    row = made_by(values.dataclass, slots=slots)("a", tags=["x"])
    assert copy.copy(row) == row
    deep = copy.deepcopy(row)
    assert deep == row
    assert deep.tags == ["x"]
    assert deep.tags is not row.tags


@values.dataclass(frozen=True, slots=True)
class Kept:
    """A value that another process can make."""

    id: str


def test_a_value_is_pickled() -> None:
    assert pickle.loads(pickle.dumps(Kept("a"))) == Kept("a")


def test_what_a_class_says_of_itself_stays() -> None:
    @values.dataclass(frozen=True)
    class Name:
        text: str

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Name) and self.text.lower() == other.text.lower()

        def __hash__(self) -> int:
            return hash(self.text.lower())

        def __repr__(self) -> str:
            return self.text

    assert Name("A") == Name("a")
    assert len({Name("A"), Name("a")}) == 1
    assert repr(Name("A")) == "A"
