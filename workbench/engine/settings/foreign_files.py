"""Settings files of OpenClaw, Moltbot and Clawdbot: where they lie, whose they are, and reading their relaxed JSON."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from workbench.engine import layout
from workbench.engine.errors import OutsideWorkspace
from workbench.engine.file_access import expand_home, read_regular_file
from workbench.engine.patterns import lazy_pattern
from workbench.engine.values import dataclass

LARGEST_FOREIGN = 512 * 1024
PROGRAMS = ("OPENCLAW", "MOLTBOT", "CLAWDBOT")
STATE_VARIABLES = tuple(f"{program}_STATE_DIR" for program in PROGRAMS)
STATE_FOLDERS = (".openclaw", ".clawdbot", ".moltbot", ".moldbot")
_OLD_WORKSPACE = "clawd"
LONGEST_SLOW = 20_000
_TOKEN = lazy_pattern(
    r"""(?P<skip>\s+|//[^\n\r\u2028\u2029]*|/\*(?s:.*?)\*/)
    |"(?P<double>(?:[^"\\\n\r]|\\["\\/bfnrt]|\\u[0-9A-Fa-f]{4})*)"
    |'(?P<single>(?:[^'\\\n\r"]|\\[\\/bfnrt]|\\u[0-9A-Fa-f]{4})*)'
    |(?P<number>[+-]?(?:(?:0|[1-9]\d*)\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\w.$]))
    |(?P<name>[A-Za-z_$][\w$]*)
    |(?P<mark>[{}\[\]:,])""",
    re.VERBOSE | re.ASCII,
)
_COLON = lazy_pattern(r"\s*:")
_CONSTANTS = frozenset({"true", "false", "null"})


def foreign_files(
    root: Path, environment: Mapping[str, str], warnings: list[str], *, home: bool
) -> Iterator[ForeignFile]:
    """Yield the files that speak of a workspace, the weakest first: the user's own, then those in it, the newest last.

    Args:
        root: The workspace folder.
        environment: Variables that say where the user's own file lies.
        warnings: Takes a sentence for each file that cannot be read.
        home: Whether the user's own file is read.
    """
    if home and (own := _home_file(root, environment, warnings)) is not None:
        yield own
    for name in reversed(layout.FOREIGN_SETTINGS):
        try:
            document = read_foreign_document(layout.resolve(root, name))
        except (OSError, OutsideWorkspace, ValueError, RecursionError) as error:
            warnings.append(f"{name} was left aside: {_reason(error)}.")
            continue
        if document is not None:
            yield ForeignFile(name, document)


def read_foreign_document(path: Path) -> Mapping[str, Any] | None:
    """Return what a settings file of another program says, or None if there is no such file.

    Raises:
        OSError: It cannot be read.
        ValueError: It is too large, or holds no JSON object.
        RecursionError: It is nested too deeply.
    """
    content = read_regular_file(path, LARGEST_FOREIGN + 1)
    if content is None:
        return None
    if len(content) > LARGEST_FOREIGN:
        raise ValueError("it is larger than 512 KiB")
    document = read_relaxed_json(content.decode("utf-8-sig"))
    if not isinstance(document, dict):
        raise ValueError("it holds no object")
    return document


@dataclass(frozen=True)
class ForeignFile:
    """A settings file of another program.

    Args:
        name: As people are shown it.
        state: The state folder that it lies in; None for a file of the workspace.
        is_owner: Whether it names this workspace as that of one of its agents. Only then it may say where memory is
            sent and what is run: to any other folder it would do what somebody else's file must not.
        agent: Which agent that is.
    """

    name: str
    document: Mapping[str, Any]
    state: Path | None = None
    is_owner: bool = False
    agent: str = "main"


def _home_file(root: Path, environment: Mapping[str, str], warnings: list[str]) -> ForeignFile | None:
    """Return the file that speaks of this workspace, else the one that the programs would read."""
    home = environment.get("OPENCLAW_HOME") or environment.get("HOME") or environment.get("USERPROFILE")
    if not home:
        return None
    place = Path(home)
    first: ForeignFile | None = None
    for path, is_usual in _places(place, environment):
        if path.parent == root:
            continue
        name = f"~/{path.relative_to(place)}" if path.is_relative_to(place) else str(path)
        try:
            document = read_foreign_document(path)
        except (OSError, ValueError, RecursionError) as error:
            if is_usual:
                warnings.append(f"{name} was left aside: {_reason(error)}.")
            continue
        if document is None:
            continue
        agent = _agent_of(root, document, path.parent, place, environment)
        if agent is not None:
            return ForeignFile(name, document, path.parent, is_owner=True, agent=agent)
        if first is None and is_usual:
            first = ForeignFile(name, document, path.parent)
    return first


def _places(home: Path, environment: Mapping[str, str]) -> Iterator[tuple[Path, bool]]:
    """Yield where such files may lie, and whether the programs look there without being told which agent it is."""
    named = [environment.get(f"{program}_CONFIG_PATH") for program in PROGRAMS]
    yield from ((expand_home(path), True) for path in named if path)
    folders = [expand_home(environment[name]) for name in STATE_VARIABLES if environment.get(name)]
    profiles = {environment.get(f"{program}_PROFILE") for program in PROGRAMS} - {None, "", "default"}
    folders += [
        home / f"{name}-{profile}" for profile in sorted(map(str, profiles)) for name in STATE_FOLDERS
    ]
    is_told = bool(folders) or any(named)
    usual = [home / name for name in STATE_FOLDERS]
    try:
        others = sorted(
            Path(entry.path)
            for entry in os.scandir(home)
            if entry.name.startswith(tuple(f"{n}-" for n in STATE_FOLDERS))
        )
    except OSError:
        others = []
    for folder in dict.fromkeys((*folders, *usual, *others)):
        for name in layout.FOREIGN_SETTINGS:
            yield folder / name, folder in folders or (folder in usual and not is_told)


def _agent_of(
    root: Path, document: Mapping[str, Any], state: Path, home: Path, environment: Mapping[str, str]
) -> str | None:
    """Return the agent whose workspace this is by a settings file, or None."""
    real = os.path.realpath(root)

    def is_this(path: object) -> bool:
        if not isinstance(path, str) or not path or "\0" in path:
            return False
        spoken = path.replace("~", str(home), 1) if path == "~" or path.startswith("~/") else path
        return os.path.realpath(state / spoken) == real

    agents = dict(_agents(document))
    for name, agent in agents.items():
        if is_this(agent.get("workspace")):
            return name
    first = next(
        (name for name, agent in agents.items() if agent.get("default") is True), next(iter(agents), "main")
    )
    usual = entry_at(document, "agents.defaults.workspace") or entry_at(document, "agent.workspace")
    if usual is not None:
        return first if is_this(usual) else None
    for variable in ("OPENCLAW_WORKSPACE_DIR", "CLAWDBOT_WORKSPACE_DIR"):
        if environment.get(variable) and is_this(environment[variable]):
            return first
    profile = state.name.partition("-")[2]
    ending = f"-{profile}" if profile else ""
    if any(is_this(str(path)) for path in (state / "workspace", home / f"{_OLD_WORKSPACE}{ending}")):
        return first
    for name in agents:
        if is_this(str(state / f"workspace-{name}")) or is_this(str(home / f"{_OLD_WORKSPACE}-{name}")):
            return name
    return None


def _agents(document: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    listed, entries = entry_at(document, "agents.list"), entry_at(document, "agents.entries")
    for agent in listed if isinstance(listed, list) else ():
        if isinstance(agent, Mapping) and isinstance(agent.get("id"), str):
            yield agent["id"], agent
    for name, agent in entries.items() if isinstance(entries, Mapping) else ():
        if isinstance(agent, Mapping):
            yield str(name), agent


def entry_at(document: Mapping[str, Any], path: str) -> object:
    """Return the entry at a dotted path, or None."""
    value: object = document
    for part in path.split("."):
        if not isinstance(value, Mapping):
            return None
        value = value.get(part)
    return value


def list_at(document: Mapping[str, Any], path: str) -> list[object]:
    """Return the list at a dotted path; empty where there is none."""
    found = entry_at(document, path)
    return found if isinstance(found, list) else []


def _reason(error: Exception) -> str:
    if isinstance(error, OutsideWorkspace):
        return "its path leads over a symbolic link"
    if isinstance(error, UnicodeDecodeError):
        return "it is no UTF-8 text"
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    if isinstance(error, OSError):
        return f"it cannot be read ({error.strerror})"
    return f"it cannot be read as JSON5 ({str(error).splitlines()[0][:120]})"


def read_relaxed_json(text: str) -> Any:
    """Parse JSON or JSON5.

    The `json5` package takes 20 ms for a thousand characters, so common forms are first turned into plain JSON token by
    token; only rarer ones go to the package.

    Raises:
        ValueError: The text is neither, or uses rare forms and is too long for the slow parser.
        RecursionError: It is nested too deeply.
    """
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        pass
    plain = _as_json(text)
    if plain is not None:
        try:
            return json.loads(plain)
        except json.JSONDecodeError:
            pass
    if len(text) > LONGEST_SLOW:
        raise ValueError("neither JSON nor common JSON5")
    import json5

    return json5.loads(text)


def _as_json(text: str) -> str | None:
    """Turn relaxed JSON into JSON, or return None for a rarer form."""
    written: list[str] = []
    place = 0
    while place < len(text):
        token = _TOKEN.match(text, place)
        if token is None:
            return None
        place = token.end()
        match token.lastgroup:
            case "double":
                written.append(token[0])
            case "single":
                written.append(f'"{token["single"]}"')
            case "number":
                written.append(_plain_number(token[0]))
            case "name":
                if _COLON.match(text, place):
                    written.append(f'"{token[0]}"')
                elif token[0] in _CONSTANTS:
                    written.append(token[0])
                else:
                    return None
            case "mark":
                if token[0] in "}]" and written and written[-1] == ",":
                    if len(written) < 2 or written[-2] in "{[,":
                        return None
                    written.pop()
                written.append(token[0])
    return " ".join(written)


def _plain_number(text: str) -> str:
    mantissa, exponent, power = text.removeprefix("+").replace("E", "e").partition("e")
    sign = "-" if mantissa.startswith("-") else ""
    whole, _, fraction = mantissa.removeprefix("-").partition(".")
    return f"{sign}{whole or 0}{'.' + fraction if fraction else ''}{exponent}{power}"
