"""Dataclasses whose methods are made when they are first needed.

`dataclasses` compiles six methods for a frozen class as it is imported, a third of a millisecond each time, and a start
imports hundreds of which it makes no instance. Here what compares, hashes and shows a value is shared code over the
names of its fields, and `__init__`, which has to be quick, is compiled when the first value is made.
"""

from __future__ import annotations

import dataclasses
from collections import deque
from itertools import repeat
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from dataclasses import dataclass as dataclass
else:

    def dataclass(cls=None, /, *, frozen=False, slots=False, **options):
        """Return a class as `dataclasses.dataclass` does; a frozen one has its methods made when they are needed.

        What inherits from a frozen one is made by this one too: the standard one takes it for not frozen.
        """

        def made(cls):
            if not frozen or options:
                return dataclasses.dataclass(frozen=frozen, slots=slots, **options)(cls)
            # Only what inherits from a frozen class has to be made as one; `dataclasses` would compile for it.
            inherits = any(_is_frozen(base) for base in cls.__mro__[1:])
            return _frozen(
                dataclasses.dataclass(init=False, repr=False, eq=False, frozen=inherits, slots=slots)(cls)
            )

        return made if cls is None else made(cls)


T = TypeVar("T")


def of_columns(cls: type[T], columns: Sequence[Sequence[object]]) -> tuple[T, ...]:
    """Return values of a class with slots, from columns of equal length in the order of its fields.

    Filling one field of all values after the other takes a third of the time of constructing each.
    """
    made = tuple(map(cls.__new__, repeat(cls, len(columns[0]))))
    filled: type[Any] = cls
    for each, column in zip(dataclasses.fields(filled), columns, strict=True):
        deque(map(getattr(cls, each.name).__set__, made, column), maxlen=0)
    return made


def _frozen(cls: type[Any]) -> type[Any]:
    """Give a class what makes it a frozen dataclass, apart from what it has of its own."""
    compared = _reader(each.name for each in dataclasses.fields(cls) if each.compare)
    hashed = _reader(each.name for each in dataclasses.fields(cls) if each.compare and each.hash is not False)

    def begin(self: object, *given: object, **named: object) -> None:
        cls.__init__ = _compiled_init(cls)
        cls.__init__(self, *given, **named)

    def equals(self: object, other: object) -> object:
        if self.__class__ is not other.__class__:
            return NotImplemented
        return compared(self) == compared(other)

    def hash_of(self: object) -> int:
        return hash(hashed(self))

    cls.__dataclass_params__.frozen = True
    own = cls.__dict__
    methods: dict[str, Callable[..., object]] = {"__init__": begin, "__eq__": equals, "__repr__": _shown}
    if "__slots__" in own:
        methods |= {"__getstate__": _state, "__setstate__": _take_state}
    for name, method in methods.items():
        if name not in own:
            setattr(cls, name, method)
    replaced: dict[str, Callable[..., object]] = {
        "__setattr__": _refuse_assignment,
        "__delattr__": _refuse_deletion,
    }
    if own.get("__hash__") is None:
        replaced["__hash__"] = hash_of
    for name, method in replaced.items():
        setattr(cls, name, method)
    return cls


def _is_frozen(cls: type[Any]) -> bool:
    params = cls.__dict__.get("__dataclass_params__")
    return params is not None and params.frozen


def _shown(self: Any) -> str:
    shown = (f"{each.name}={getattr(self, each.name)!r}" for each in dataclasses.fields(self) if each.repr)
    return f"{self.__class__.__qualname__}({', '.join(shown)})"


def _refuse_assignment(_self: object, name: str, _value: object) -> NoReturn:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_deletion(_self: object, name: str) -> NoReturn:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: Any) -> list[object]:
    return [getattr(self, each.name) for each in dataclasses.fields(self)]


def _take_state(self: Any, state: list[object]) -> None:
    for each, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, each.name, value)


def _reader(names: Iterable[str]) -> Callable[[object], tuple[object, ...]]:
    """Return what reads some attributes of an object, as a tuple however few they are."""
    found = tuple(names)
    if len(found) > 1:
        return attrgetter(*found)
    return lambda value: tuple(getattr(value, name) for name in found)


def _compiled_init(cls: type[Any]) -> Any:
    """Return the `__init__` of a frozen dataclass; its text is made of the names of fields, and of nothing else."""
    known: dict[str, Any] = {"_set": object.__setattr__, "_not_given": dataclasses.MISSING}
    by_place, by_name, lines = ["self"], list[str](), list[str]()
    for each in dataclasses.fields(cls):
        assert each.init, f"{cls.__qualname__}.{each.name}: a frozen value is given every field"
        name, default = each.name, ""
        if each.default_factory is not dataclasses.MISSING:
            known[f"_new_{name}"] = each.default_factory
            default, value = "_not_given", f"_new_{name}() if {name} is _not_given else {name}"
        elif each.default is not dataclasses.MISSING:
            known[f"_default_{name}"] = each.default
            default, value = f"_default_{name}", name
        else:
            value = name
        (by_name if each.kw_only else by_place).append(f"{name}={default}" if default else name)
        lines.append(f"_set(self, {name!r}, {value})")
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    given = ", ".join([*by_place, *(["*", *by_name] if by_name else [])])
    exec(f"def __init__({given}):\n  " + "\n  ".join(lines or ["pass"]), known)  # noqa: S102 - as `dataclasses` does
    made = known["__init__"]
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    return made
