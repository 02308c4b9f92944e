"""How a setting is declared: its kind and bounds, what it is about, and why the workspace’s own file may not set it.

Each function returns the metadata of a field. `about` is told to people; `personal` is the reason why only the user may
set it, None where the workspace may too.
"""

from __future__ import annotations

from workbench.engine.settings.schema import Kind, Spec

ENDPOINT = "opening somebody’s folder must not send memory anywhere"
PROGRAM = "opening somebody’s folder must not run anything"
OUTSIDE = "a workspace must not choose places outside itself"
TASTE = "the bench looks the way its user wants it, whatever the workspace"


def whole(least: int, most: int, about: str, personal: str | None = None) -> dict[str, Spec]:
    """Declare a whole number within bounds."""
    return {"spec": Spec(Kind.WHOLE, about, least, most, personal=personal)}


def number(least: float, most: float, about: str, personal: str | None = None) -> dict[str, Spec]:
    """Declare a number within bounds."""
    return {"spec": Spec(Kind.NUMBER, about, least, most, personal=personal)}


def choice(choices: tuple[str, ...], about: str, personal: str | None = None) -> dict[str, Spec]:
    """Declare one of some words."""
    return {"spec": Spec(Kind.CHOICE, about, choices=choices, personal=personal)}


def of(kind: Kind, about: str, personal: str | None = None, *, secret: bool = False) -> dict[str, Spec]:
    """Declare a value of any other kind."""
    return {"spec": Spec(kind, about, personal=personal, secret=secret)}
