"""Commands that give memory to agents: in the configuration of their program, or as text for their prompts."""

from __future__ import annotations

import json
import os
import shlex
from functools import partial
from pathlib import Path
from typing import Final

import click

from workbench.cli.command import command, program_words, scope_option, scoped_door
from workbench.cli.invocation import DONE, Invocation, refuse_for_a_scope, role_of
from workbench.display.connections import (
    asked_lines,
    change_lines,
    clients_lines,
    connected_lines,
    offered,
    short_path,
)
from workbench.display.text import write
from workbench.engine.clients.configurations import Ledger
from workbench.engine.clients.connecting import (
    SCOPES,
    Plan,
    Wanted,
    carry_out,
    plan_connection,
    plan_disconnection,
    survey,
)
from workbench.engine.clients.known import NAMES, Machine, Server, client_called
from workbench.engine.errors import NotFound, WorkbenchError
from workbench.engine.roles import Capability, parse_role, require
from workbench.engine.settings.layers import USUAL_PLACE, load_settings, remember_usual
from workbench.engine.settings.sections import shared_directory, user_settings_file

LEDGER: Final = "clients.json"
_DRY_RUN = click.option("--dry-run", is_flag=True, help="Show what would change, and change nothing.")
_YES = click.option("-y", "--yes", is_flag=True, help="Change it without asking.")
CLIENTS = ("claude-code", "codex", "openclaw", "json")
_AGENT = click.option(
    "--agent", metavar="NAME", help="For the sub-agent of this name; else for the main agent."
)


def ledger() -> Ledger:
    """Return what is noted of every connection of this user's."""
    return Ledger.load(shared_directory("state", load_settings(None).paths.state) / LEDGER)


@command(
    "connect",
    answers="How do I give this memory to Claude Code, or to whatever my agent runs in?",
    examples=(
        "workbench connect",
        "workbench connect claude-code --dry-run",
        "workbench connect codex --agent researcher",
    ),
)
@click.argument("client", required=False, type=click.Choice(NAMES), metavar="[CLIENT]")
@click.option("--agent", metavar="NAME", help="For the sub-agent of this name, which reads and proposes.")
@click.option(
    "--scope",
    type=click.Choice(SCOPES),
    default="user",
    show_default=True,
    help="For all you do, or for the current folder alone, where the client knows projects.",
)
@click.option(
    "--no-hooks", is_flag=True, help="Run nothing at the start and end of a session or before a compaction."
)
@click.option(
    "--prompts",
    is_flag=True,
    help="Tell the agent with each prompt what memory has on it, where it has something.",
)
@click.option("--no-commands", is_flag=True, help="Add no commands to remember, recall and reflect.")
@_DRY_RUN
@_YES
def connect_command(
    invocation: Invocation,
    client: str | None,
    agent: str | None,
    scope: str,
    no_hooks: bool,
    prompts: bool,
    no_commands: bool,
    dry_run: bool,
    yes: bool,
) -> int:
    """Shows each change of a configuration as a diff, and asks. Formatting and comments stay, the former file is kept
    beside it, and `disconnect` puts everything back. Where there is no memory near, one is made in ~/agent-memory.
    Without CLIENT it lists what is installed and connected, and offers the rest. CLIENT is one of claude-code, codex,
    openclaw, gemini, cursor, vscode, zed, opencode and goose.
    """
    _require_person(invocation)
    if agent is not None:
        parse_role(f"agent:{agent}")
    machine, kept = Machine.present(), ledger()
    found = survey(machine) if client is None else None
    names = [client] if client else [each.name for each in found.clients if offered(each)] if found else []
    if found is not None:
        if not names or dry_run or not (yes or invocation.can_ask):
            return invocation.report(found, clients_lines)
        if not invocation.json:
            write([*clients_lines(invocation.page(), found), ""])
    folder = _memory(invocation, client, dry_run=dry_run, yes=yes)
    server = Server(program_words(), folder.resolve(), agent)
    for name in names:
        known = client_called(name)
        wanted = Wanted(
            server,
            scope,
            hooks=not no_hooks,
            prompts=prompts and (client is not None or known.has_prompts),
            commands=not no_commands,
        )
        try:
            plan = plan_connection(known, machine, wanted, kept)
            asked = f"Connect {known.title} to {short_path(server.folder)}?"
            said = f"{known.title} has this memory: {short_path(server.folder)}"
            if found is not None and invocation.json:
                carry_out(plan, kept)
            else:
                _carry_out(invocation, plan, kept, asked, said, dry_run=dry_run, yes=yes)
        except WorkbenchError as error:
            # Of several that are offered, one that cannot be changed leaves the others.
            if found is None:
                raise
            invocation.warn([f"{known.title}: {error}"])
    if found is not None and invocation.json:
        return invocation.report(survey(machine), clients_lines)
    return DONE


@command(
    "disconnect",
    answers="How do I take this memory out of my agent’s program again?",
    examples=("workbench disconnect claude-code", "workbench disconnect codex --agent researcher --dry-run"),
)
@click.argument("client", type=click.Choice(NAMES), metavar="CLIENT")
@click.option("--agent", metavar="NAME", help="Take out the server of this sub-agent alone.")
@click.option("--scope", type=click.Choice(SCOPES), help="Take it out there alone; else wherever it is.")
@_DRY_RUN
@_YES
def disconnect_command(
    invocation: Invocation, client: str, agent: str | None, scope: str | None, dry_run: bool, yes: bool
) -> int:
    """Servers, hooks and commands of this program go, whichever memory they were for. A file that nobody else wrote
    since is byte for byte what it was before; in any other, exactly what was put in is taken out.
    """
    _require_person(invocation)
    kept = ledger()
    plan = plan_disconnection(client_called(client), Machine.present(), kept, scope=scope, agent=agent)
    title = plan.client.title
    return _carry_out(
        invocation, plan, kept, f"Disconnect {title}?", f"{title} is disconnected.", dry_run=dry_run, yes=yes
    )


def _memory(invocation: Invocation, client: str | None, *, dry_run: bool, yes: bool) -> Path:
    """Return the memory's folder; if there is none, offer to make one in the usual place.

    Raises:
        NotFound: There is no memory, and no terminal to ask on.
        click.exceptions.Exit: The person declined.
    """
    refuse_for_a_scope()
    found = invocation.find_or_none()
    if found is not None:
        return found
    place = Path(USUAL_PLACE).expanduser()
    if dry_run:
        invocation.warn([f"There is no memory near; {USUAL_PLACE} would be made first."])
        return place
    if not yes and not invocation.can_ask:
        raise NotFound(
            "There is no memory here or in a folder above.",
            where=str(Path.cwd()),
            remedy=f"Make one in {USUAL_PLACE} and connect it in one step: "
            f"workbench connect {f'{client} ' if client else ''}--yes. Or name one with --workspace PATH.",
        )
    if not yes and not invocation.confirm(f"There is no memory near. Make one in {USUAL_PLACE}?"):
        invocation.warn(["Nothing was changed."])
        raise click.exceptions.Exit(DONE)
    invocation.workspace_class().init(place, clock=invocation.clock())
    trouble = remember_usual(user_settings_file(os.environ), place)
    invocation.warn([trouble] if trouble else ())
    if not invocation.json:
        page = invocation.page()
        said = f"{USUAL_PLACE} is a memory now, and what `workbench` opens where no other is near."
        write([*page.wrapped(said, first=f"{page.paint('✓', 'good')} "), ""])
    return place


def _require_person(invocation: Invocation) -> None:
    require(
        parse_role(role_of(invocation.role)),
        Capability.CHANGE_SETTINGS,
        doing="change how programs are connected",
    )


def _carry_out(
    invocation: Invocation, plan: Plan, kept: Ledger, asked: str, said: str, *, dry_run: bool, yes: bool
) -> int:
    """Show what a plan changes, ask, and do it."""
    preview = plan.result(applied=False)
    if not preview.changes:
        return invocation.report(preview, partial(connected_lines, said=said))
    if dry_run:
        return invocation.report(preview, change_lines)
    if not yes and not invocation.agree(asked, preview, asked_lines):
        return DONE
    if yes and not invocation.json:
        write(asked_lines(invocation.page(), preview))
    return invocation.report(carry_out(plan, kept), partial(connected_lines, said=said))


def registration(client: str, server: Server) -> str:
    """Return the command that registers the server with a client, or the JSON that other clients take.

    Args:
        client: One of `CLIENTS`.
    """
    command, *arguments = server.words
    entry = {"command": command, "args": arguments}
    match client:
        case "claude-code":
            return shlex.join(["claude", "mcp", "add", server.name, "--", *server.words])
        case "codex":
            return shlex.join(["codex", "mcp", "add", server.name, "--", *server.words])
        case "openclaw":
            return shlex.join(["openclaw", "mcp", "set", server.name, json.dumps(entry, ensure_ascii=False)])
        case _:
            return json.dumps({"mcpServers": {server.name: entry}}, ensure_ascii=False, indent=2)


@command(
    "agents-md",
    answers="What do I put into my agent’s prompt?",
    examples=(
        "workbench agents-md",
        "workbench agents-md --agent researcher",
        "workbench agents-md --mcp claude-code",
    ),
)
@_AGENT
@click.option("--skill", is_flag=True, help="As a SKILL.md, for agents that load skills.")
@click.option(
    "--mcp",
    "client",
    type=click.Choice(CLIENTS),
    help="Print how that client is set up for the MCP server instead; json suits all others.",
)
@scope_option
def agents_md_command(
    invocation: Invocation, agent: str | None, skill: bool, client: str | None, scope: str | None
) -> int:
    """Append it to the AGENTS.md or CLAUDE.md of the agent, or put it into its system prompt. It follows the
    settings of the workspace: trigger phrases, core memory’s cap, when reflection is due.
    """
    scoped = scoped_door(invocation, scope, f"agent:{agent}" if agent is not None else None)
    if scoped is not None:
        if skill or client is not None:
            raise click.UsageError(
                "--skill and --mcp are for the owner’s agents.", click.get_current_context()
            )
        with scoped as door:
            text = door.instructions()
        return invocation.report_text(
            {"agent": agent, "scope": door.scope, "skill": False, "text": text}, text
        )
    if client is not None:
        return _register(invocation, client, agent)
    with invocation.open() as workspace:
        text = workspace.instructions(agent=agent, skill=skill)
    return invocation.report_text({"agent": agent, "skill": skill, "text": text}, text)


def _register(invocation: Invocation, client: str, agent: str | None) -> int:
    if agent is not None:
        parse_role(f"agent:{agent}")
    # Clients start it with a search path of their own, so the program is named by where it is.
    server = Server(program_words(), invocation.locate().resolve(), agent)
    text = registration(client, server)
    return invocation.report_text(
        {"client": client, "name": server.name, "command": server.words, "text": text}, text + "\n"
    )
