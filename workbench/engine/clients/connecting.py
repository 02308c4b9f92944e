"""Connecting a client to a memory: what that changes, doing it, and taking it back."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from workbench.engine.clients.configurations import (
    Configuration,
    Ledger,
    change_of,
    copy_of,
    digest,
    named,
    read,
    refuse_read_only,
    short,
    write,
)
from workbench.engine.clients.json_text import value_at
from workbench.engine.clients.known import CLIENTS, Client, Machine, Server, client_called, is_ours, words_of
from workbench.engine.errors import InvalidInput, NotFound, Refused, StorageError, WorkbenchError
from workbench.engine.patterns import lazy_pattern
from workbench.engine.results.clients import Clients, ClientState, Connection, ConnectionChange
from workbench.engine.values import dataclass

SCOPES: Final = ("user", "project")
COMMANDS: Final = {
    "remember": ("Store something in the user’s memory (Workbench)", "[what]"),
    "recall": ("Find something in the user’s memory (Workbench), with its source", "[question]"),
    "reflect": (
        "Propose what should be learned from what is new in the user’s memory (Workbench)",
        "[about]",
    ),
}


@dataclass(frozen=True)
class Wanted:
    """What shall be in a client's configuration.

    Args:
        server: How it is started.
        scope: `user` or `project`.
        hooks: Whether it runs a command at the start and the end of a session and before a compaction.
        prompts: Whether it does with each prompt.
        commands: Whether it gets commands of its own.
    """

    server: Server
    scope: str = "user"
    hooks: bool = True
    prompts: bool = False
    commands: bool = True


@dataclass(frozen=True)
class Plan:
    """What connecting or disconnecting changes, file by file.

    Args:
        files: Those that change.
        notes: What else there is to know.
    """

    client: Client
    machine: Machine
    files: tuple[Configuration, ...]
    notes: tuple[str, ...] = ()

    def result(self, *, applied: bool) -> ConnectionChange:
        """Return it as it is shown."""
        changes = tuple(
            change_of(each, self.machine, is_kept=not _is_taken_out(each, self.client)) for each in self.files
        )
        return ConnectionChange(self.client.name, self.client.title, applied, changes, self.notes)


Keys = tuple[str | int, ...]


def survey(machine: Machine) -> Clients:
    """Return what is installed and what is connected, for the user and in the current folder."""
    return Clients(tuple(_state(client, machine) for client in CLIENTS))


def _state(client: Client, machine: Machine) -> ClientState:
    connections: list[Connection] = []
    problem = None
    for scope in scopes_of(client, machine):
        try:
            connections += connections_of(client, machine, scope)
        except WorkbenchError as error:
            # A project's file may be anything: only the user's own is told of.
            problem = str(error) if scope == "user" else problem
    path = client.file(machine)
    installed = client.is_installed(machine)
    return ClientState(client.name, client.title, installed, str(path), tuple(connections), problem)


def scopes_of(client: Client, machine: Machine) -> tuple[str, ...]:
    """Return the scopes that a client has in the current folder; the home folder is no project."""
    is_home = machine.project.resolve() == machine.home.resolve()
    return SCOPES if client.project_file and not is_home else SCOPES[:1]


def connections_of(client: Client, machine: Machine, scope: str) -> Iterator[Connection]:
    """Yield the servers of ours in a configuration.

    Raises:
        DocumentError: It is broken.
        Refused: It is not to be read.
    """
    place = client.file_of(machine, scope)
    entries = value_at(read(place, machine, client.format()).value(), client.servers)
    moments: tuple[str, ...] = ()
    if client.hooks is not None:
        with suppress(WorkbenchError):
            file = client.hooks_file(machine, scope)
            value = read(file, machine, client.documents(machine, scope)[file]).value()
            moments = tuple(dict.fromkeys(each.moment for each in _hooks_in(value)))
    if client.plugin is not None and _plugin_file(client, machine, scope).is_file():
        moments = client.plugin.moments
    for name, entry in entries.items() if isinstance(entries, dict) else ():
        words = words_of(entry)
        server = Server.read(words)
        if server is not None:
            hooks = () if server.agent else moments
            folder = str(server.folder)
            yield Connection(name, tuple(words), folder, server.agent, scope, str(place), hooks)


def plan_connection(client: Client, machine: Machine, wanted: Wanted, ledger: Ledger) -> Plan:
    """Return what has to change for a client to start a server of ours.

    Raises:
        DocumentError: A configuration is broken.
        InvalidInput: The client has no such scope, or no such hooks.
        Refused: A configuration is not to be written, or has another server of that name.
    """
    _check_scope(client, machine, wanted.scope)
    main = wanted.server.agent is None
    if wanted.prompts and not (client.has_prompts and main):
        whom = "a sub-agent" if client.has_prompts else client.title
        raise InvalidInput(f"There is no hook for prompts of {whom}.", remedy="Leave --prompts out.")
    documents = client.documents(machine, wanted.scope)
    found = {path: read(path, machine, format_) for path, format_ in documents.items()}
    _put_server(client, found, client.file_of(machine, wanted.scope), wanted.server)
    notes = []
    if client.hooks is not None and main:
        if wanted.hooks and (also := _runs_hooks_of(client, machine)) is not None:
            wanted = replace(wanted, hooks=False)
            notes.append(f"{client.title} runs the hooks of {also.title}, so it gets none of its own.")
        _put_hooks(client, found, client.hooks_file(machine, wanted.scope), wanted, ledger)
    if client.plugin is not None and main:
        notes += _put_plugin(client, machine, found, ledger, wanted)
    if client.commands and main and wanted.commands:
        texts = {client.commands.format(name): command_text(client, name) for name in COMMANDS}
        notes += _put_files(machine, found, ledger, client.folder_of(machine, wanted.scope), texts)
    changed = tuple(each for each in found.values() if each.is_changed)
    for each in changed:
        refuse_read_only(each)
    if changed and not client.is_installed(machine):
        notes.append(f"{client.title} was not found here; its configuration is written all the same.")
    if changed:
        notes.append(client.then)
    return Plan(client, machine, changed, tuple(notes))


def plan_disconnection(
    client: Client,
    machine: Machine,
    ledger: Ledger,
    *,
    scope: str | None = None,
    agent: str | None = None,
) -> Plan:
    """Return what has to change for nothing of ours to be left, or no server of one sub-agent.

    Args:
        scope: The only one that is looked at; by default both, of which the project's may be anything.

    Raises:
        DocumentError: A configuration is broken.
        NotFound: Nothing of ours is there.
        Refused: A configuration is not to be written.
    """
    if scope is not None:
        _check_scope(client, machine, scope)
    changed: list[Configuration] = []
    notes: list[str] = []
    for each in scopes_of(client, machine) if scope is None else (scope,):
        try:
            taken, told = _taken_out(client, machine, ledger, each, agent)
        except WorkbenchError as error:
            if scope is not None or each == "user":
                raise
            if client.file_of(machine, each).exists():
                notes.append(f"Left as it is: {error}")
            continue
        changed += taken
        notes += told
    if not changed:
        who = f"The agent {agent}" if agent else "A memory"
        raise NotFound(f"{who} is not connected to {client.title}.", remedy="See what is: workbench connect")
    return Plan(client, machine, tuple(changed), tuple(notes))


def _taken_out(
    client: Client, machine: Machine, ledger: Ledger, scope: str, agent: str | None
) -> tuple[list[Configuration], list[str]]:
    """Return the files of a scope that change when what is ours is taken out, and what else there is to know."""
    changed: list[Configuration] = []
    for path, format_ in client.documents(machine, scope).items():
        without = _without_ours(read(path, machine, format_), client, agent)
        if without.is_changed:
            refuse_read_only(without)
            is_last = not _ours(without.value(), client)
            changed.append(_as_before(without, client, ledger) if is_last else without)
    if agent is not None:
        return changed, []
    whole, notes = _drop_files(client, machine, ledger, client.folder_of(machine, scope))
    return [*changed, *whole], notes


def carry_out(plan: Plan, ledger: Ledger) -> ConnectionChange:
    """Write what was planned, and note it, so that it can be taken out again.

    Raises:
        Stale: A file changed since it was planned.
        StorageError: A file cannot be written.
    """
    result = plan.result(applied=True)
    for each in plan.files:
        if _is_taken_out(each, plan.client):
            _take_out(each, ledger)
        else:
            _put_in(each, plan.client, ledger)
    ledger.remove_folders()
    ledger.save()
    return result


def _is_taken_out(each: Configuration, client: Client) -> bool:
    """Return True if nothing of ours is left in a file, which then needs no copy beside it."""
    return each.after is None or (each.format is not None and not _ours(each.value(), client))


def _put_in(each: Configuration, client: Client, ledger: Ledger) -> None:
    record, copy = dict(ledger.record(each.path)), None
    if digest(each.before) != record.get("after"):
        # Whoever wrote it since: it goes back to what they left, without what is ours.
        was = replace(each, after=each.before)
        if each.before is not None and each.format is not None and _ours(was.value(), client):
            was = _without_empty(_without_ours(was, client, None), client, record)
        copy = was.after
        record |= {"existed": copy is not None, "before": digest(copy)}
    made = {tuple(path) for path in record.get("made", ())} | set(each.made)
    record |= {"after": digest(each.after), "made": sorted(map(list, made))}
    ledger.note(each.path, record)
    ledger.folders += [str(folder) for folder in each.path.parents if not folder.exists()]
    if not ledger.save():
        raise StorageError(
            "What is changed cannot be noted.",
            where=str(ledger.place),
            remedy="Make room there, or set paths.state.",
        )
    write(each, copy=copy)


def _take_out(each: Configuration, ledger: Ledger) -> None:
    write(each, copy=None)
    with suppress(OSError):
        copy_of(each.path).unlink(missing_ok=True)
    ledger.note(each.path, None)


def _check_scope(client: Client, machine: Machine, scope: str) -> None:
    if scope == "user":
        return
    if not client.project_file:
        raise InvalidInput(f"{client.title} has no configuration of a project.", remedy="Leave --scope out.")
    if machine.project.resolve() == machine.home.resolve():
        raise InvalidInput(
            "The home folder is no project.",
            where=str(machine.project),
            remedy="Leave --scope out, or go to the project.",
        )


def _put_server(client: Client, found: dict[Path, Configuration], place: Path, server: Server) -> None:
    entries = value_at(found[place].value(), client.servers)
    present = entries.get(server.name) if isinstance(entries, dict) else None
    words = words_of(present)
    if words == server.words:
        return
    if present is not None and Server.read(words) is None:
        raise Refused(
            f"There is another server called “{server.name}”.",
            where=str(place),
            remedy="Rename it there, then ask again.",
        )
    found[place] = _with(found[place], (*client.servers, server.name), client.entry(server))


def _put_hooks(
    client: Client, found: dict[Path, Configuration], place: Path, wanted: Wanted, ledger: Ledger
) -> None:
    hooks = client.hooks
    assert hooks is not None
    moments = dict(hooks.events) if wanted.hooks else {}
    moments |= {hooks.prompt: "prompt"} if wanted.prompts else {}
    groups = {
        event: hooks.entry(hook_command(wanted.server, client.name, moment), moment)
        for event, moment in moments.items()
    }
    present = list(_hooks_in(found[place].value()))
    base = hooks.base if groups else {}
    there = {str(each.path[1]): each.group for each in present}
    if len(there) == len(present) and there == groups:
        return
    for each in reversed(present):
        found[place] = _without(found[place], each.path)
    if present:
        found[place] = _without_empty(found[place], client, ledger.record(place))
    for key, value in base.items():
        if value_at(found[place].value(), (key,)) is None:
            put = _with(found[place], (key,), value)
            found[place] = replace(put, made=(*put.made, (key,)))
    for event, group in groups.items():
        found[place] = _with(found[place], ("hooks", event), group, append=True)
    if present and not _ours(found[place].value(), client):
        found[place] = _as_before(found[place], client, ledger)


def _runs_hooks_of(client: Client, machine: Machine) -> Client | None:
    """Return the client whose hooks of ours another one runs as well, where some are there."""
    if client.hooks is None or not client.hooks.also_of:
        return None
    other = client_called(client.hooks.also_of)
    with suppress(WorkbenchError):
        if any(each.hooks for each in connections_of(other, machine, "user")):
            return other
    return None


def hook_command(server: Server, client: str, moment: str) -> str:
    """Return the command line, for a shell, that a client runs at a moment."""
    return shlex.join(
        [*server.program, "hook", moment, "--client", client, "--workspace", str(server.folder)]
    )


@dataclass(frozen=True)
class _Hook:
    """A command of ours among a client's hooks.

    Args:
        path: To its group in the file.
        moment: Ours: `session-start` and so on.
        group: What is there.
    """

    path: Keys
    moment: str
    group: Any


def _hooks_in(value: Any) -> Iterator[_Hook]:
    events = value_at(value, ("hooks",))
    for event, groups in events.items() if isinstance(events, dict) else ():
        for index, group in enumerate(groups if isinstance(groups, list) else ()):
            inside = group.get("hooks", [group]) if isinstance(group, dict) else None
            for hook in inside if isinstance(inside, list) else ():
                moment = _moment_of(hook.get("command") if isinstance(hook, dict) else None)
                if moment:
                    yield _Hook(("hooks", event, index), moment, group)
                    break


def _moment_of(command: object) -> str:
    """Return the moment for which a command of ours is run; empty of any other command."""
    try:
        words = shlex.split(command) if isinstance(command, str) else []
    except ValueError:
        return ""
    if "hook" not in words[1:-1]:
        return ""
    index = words.index("hook", 1)
    return words[index + 1] if is_ours(words[:index]) else ""


def _ours(value: Any, client: Client, agent: str | None = None) -> list[Keys]:
    """Return the paths to what is ours in a configuration: servers, and hooks unless one sub-agent's are meant."""
    entries = value_at(value, client.servers)
    paths: list[Keys] = []
    for name, entry in entries.items() if isinstance(entries, dict) else ():
        server = Server.read(words_of(entry))
        if server is not None and agent in (None, server.agent):
            paths.append((*client.servers, name))
    if agent is None and client.hooks is not None:
        paths += (each.path for each in _hooks_in(value))
    if agent is None and client.plugin is not None and client.plugin.switch:
        paths += [client.plugin.switch] if value_at(value, client.plugin.switch) == client.plugin.on else []
    return paths


def _with(each: Configuration, keys: tuple[str, ...], value: Any, *, append: bool = False) -> Configuration:
    """Return a configuration with a value at a path, or at the end of the array there.

    Raises:
        DocumentError: It is broken, or something else is on the way.
        Refused: It is laid out so that the change would change something else as well.
    """
    assert each.format is not None
    held = each.value()
    made = tuple(
        keys[:depth] for depth in range(1, len(keys) + append) if value_at(held, keys[:depth]) is None
    )
    with named(each.path):
        text = (each.format.append if append else each.format.put)(each.text(), keys, value)
    changed = each.with_text(text)
    if changed.value() != _merged(held, keys, value, append=append):
        raise Refused(
            "The file is laid out in a way that cannot be changed safely.",
            where=str(each.path),
            remedy="Write the entry by hand: workbench agents-md --mcp json",
        )
    return replace(changed, made=(*each.made, *made))


def _merged(held: Any, keys: tuple[str, ...], value: Any, *, append: bool) -> Any:
    if not keys:
        return [*(held or ()), value] if append else value
    return {**(held or {}), keys[0]: _merged((held or {}).get(keys[0]), keys[1:], value, append=append)}


def _without(each: Configuration, keys: Keys) -> Configuration:
    assert each.format is not None
    with named(each.path):
        return each.with_text(each.format.drop(each.text(), keys))


def _without_ours(each: Configuration, client: Client, agent: str | None) -> Configuration:
    for keys in reversed(_ours(each.value(), client, agent)):
        each = _without(each, keys)
    return each


def _as_before(each: Configuration, client: Client, ledger: Ledger) -> Configuration:
    """Return a file as it was before anything of ours was in it: the very bytes, where nobody else wrote since."""
    record = ledger.record(each.path)
    if record and digest(each.before) == record.get("after"):
        if not record.get("existed"):
            return replace(each, after=None)
        with suppress(OSError):
            copy = copy_of(each.path).read_bytes()
            if digest(copy) == record.get("before"):
                return replace(each, after=copy)
    return _without_empty(each, client, record)


def _without_empty(each: Configuration, client: Client, record: Mapping[str, Any]) -> Configuration:
    """Return a file without the objects that were made for what is ours and hold nothing any more."""
    value = each.value()
    servers = [client.servers[:depth] for depth in range(1, len(client.servers) + 1)]
    events = [("hooks", str(event)) for event in value_at(value, ("hooks",)) or ()] if client.hooks else []
    switch = client.plugin.switch[:-1] if client.plugin else ()
    switches = [switch[:depth] for depth in range(1, len(switch) + 1)]
    known = [*servers, *switches, ("hooks",), *events]
    made = [tuple(keys) for keys in record.get("made", ())] if record else known
    for keys in sorted(made, key=len, reverse=True):
        if value_at(each.value(), keys) in ({}, []):
            each = _without(each, keys)
    # Hooks that somebody else wrote into a file of ours need it.
    if record and (record.get("existed") or not value_at(each.value(), ("hooks",))):
        for key in client.hooks.base if client.hooks else ():
            each = _without(each, (key,)) if (key,) in made else each
    if record and not record.get("existed") and not each.value():
        return replace(each, after=None)
    return each


def _put_plugin(
    client: Client, machine: Machine, found: dict[Path, Configuration], ledger: Ledger, wanted: Wanted
) -> list[str]:
    plugin, folder = client.plugin, client.folder_of(machine, wanted.scope)
    assert plugin is not None
    place = client.file_of(machine, wanted.scope)
    if not wanted.hooks and not wanted.prompts:
        dropped, notes = _drop_whole(machine, ledger, folder, _plugin_texts(client, folder, None))
        found |= {each.path: each for each in dropped}
        if plugin.switch and value_at(found[place].value(), plugin.switch) == plugin.on:
            found[place] = _without_empty(_without(found[place], plugin.switch), client, ledger.record(place))
        return notes
    notes = _put_files(machine, found, ledger, folder, _plugin_texts(client, folder, wanted))
    if plugin.switch and value_at(found[place].value(), plugin.switch) is None:
        found[place] = _with(found[place], plugin.switch, dict(plugin.on))
    allowed = value_at(found[place].value(), (*plugin.switch[:1], "allow"))
    if isinstance(allowed, list) and plugin.switch[-1] not in allowed:
        notes.append(
            f"Its hooks run once plugins.allow in {short(place, machine)} names “{plugin.switch[-1]}”."
        )
    return notes


def _plugin_file(client: Client, machine: Machine, scope: str) -> Path:
    assert client.plugin is not None
    return client.folder_of(machine, scope) / client.plugin.code


_COMMANDS: Final = files("workbench.engine.clients") / "commands"
_COMMAND: Final = lazy_pattern(r"^const COMMAND = (\[.*\]);$", re.MULTILINE)
_PROMPTS: Final = lazy_pattern(r"^const PROMPTS = (true|false);$", re.MULTILINE)


def _plugin_texts(client: Client, folder: Path, wanted: Wanted | None) -> dict[str, str]:
    """Return the files of a client's plugin.

    Args:
        wanted: What it shall run; None for what the code that is there runs.
    """
    plugin = client.plugin
    assert plugin is not None
    command, prompts = "[]", False
    if wanted is not None:
        server = wanted.server
        options = ["--client", client.name, "--workspace", str(server.folder)]
        command, prompts = json.dumps([*server.program, "hook", "MOMENT", *options]), wanted.prompts
    else:
        with suppress(OSError, UnicodeDecodeError):
            present = (folder / plugin.code).read_text(encoding="utf-8")
            command = found[1] if (found := _COMMAND.search(present)) else command
            prompts = bool((told := _PROMPTS.search(present)) and told[1] == "true")
    texts = {}
    for place, text in plugin.files.items():
        if place == plugin.code:
            code = files("workbench.engine.clients") / "plugins"
            asking = (code / "asking.js").read_text(encoding="utf-8")
            asking = asking.replace("const COMMAND = [];", f"const COMMAND = {command};")
            asking = asking.replace("const PROMPTS = false;", f"const PROMPTS = {str(prompts).lower()};")
            text = asking + (code / text).read_text(encoding="utf-8")
        texts[place] = text
    return texts


def _put_files(
    machine: Machine,
    found: dict[Path, Configuration],
    ledger: Ledger,
    folder: Path,
    texts: Mapping[str, str],
) -> list[str]:
    """Put in whole files of ours, by their place below a folder; what somebody else wrote there stays."""
    notes = []
    for name, text in texts.items():
        place = folder / name
        present, content = read(place, machine), text.encode()
        if present.before in (None, content) or digest(present.before) == ledger.record(place).get("after"):
            found[place] = replace(present, after=content)
        else:
            notes.append(f"{short(place, machine)} is there already, and is left as it is.")
    return notes


def _drop_files(
    client: Client, machine: Machine, ledger: Ledger, folder: Path
) -> tuple[list[Configuration], list[str]]:
    texts = {client.commands.format(name): command_text(client, name) for name in COMMANDS if client.commands}
    if client.plugin is not None:
        texts |= _plugin_texts(client, folder, None)
    return _drop_whole(machine, ledger, folder, texts)


def _drop_whole(
    machine: Machine, ledger: Ledger, folder: Path, texts: Mapping[str, str]
) -> tuple[list[Configuration], list[str]]:
    """Return the files of ours that go, by their place below a folder, and which stay because somebody changed them."""
    dropped: list[Configuration] = []
    notes: list[str] = []
    for name, text in texts.items():
        place = folder / name
        present = read(place, machine)
        ours = (ledger.record(place).get("after"), digest(text.encode()))
        if present.before is not None and digest(present.before) in ours:
            dropped.append(replace(present, after=None))
        elif present.before is not None:
            notes.append(f"{short(place, machine)} was changed since, and is left as it is.")
    return dropped, notes


def command_text(client: Client, name: str) -> str:
    """Return the file of a command as a client reads it."""
    about, hint = COMMANDS[name]
    text = (_COMMANDS / f"{name}.md").read_text(encoding="utf-8")
    match client.command_form:
        case "toml":
            prompt = text.replace("$ARGUMENTS", "{{args}}")
            return f"description = {json.dumps(about)}\nprompt = '''\n{prompt}'''\n"
        case "skill":
            task = text.replace("$ARGUMENTS", "what the user asked for")
            if client.name == "openclaw" and name == "reflect":
                task += (_COMMANDS / "reflect-by-shell.md").read_text(encoding="utf-8")
            return f"---\nname: workbench-{name}\ndescription: {about}\n---\n\n{task}"
    return f"---\ndescription: {about}\nargument-hint: {json.dumps(hint)}\n---\n\n{text}"
