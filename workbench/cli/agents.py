"""Commands that give memory to agents: the MCP server, how clients register it, the text for their prompts."""

from __future__ import annotations

import json
import os
import shlex
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from workbench.cli.command import command
from workbench.cli.invocation import DONE, Invocation
from workbench.cli.json_output import print_json
from workbench.cli.options import ROLE_VARIABLE, program_words, role_of, scope_option, scoped_door
from workbench.display.text import write
from workbench.engine.clients.hooks import prepare_brief
from workbench.engine.clients.known import Server
from workbench.engine.errors import RoleRefused, WorkbenchError
from workbench.engine.roles import parse_role

if TYPE_CHECKING:
    from workbench.engine.scoped_memory import ScopedMemory
    from workbench.engine.workspace import Workspace

CLIENTS = ("claude-code", "codex", "openclaw", "json")
DEFAULT_PORT = 8757
_FOR_PEOPLE = (
    "workbench mcp: waits for an agent’s program to speak the Model Context Protocol here; `workbench agents-md --mcp "
    "claude-code` (codex, openclaw, json) prints how to register it. Leave with Ctrl-C."
)
_AGENT = click.option(
    "--agent", metavar="NAME", help="For the sub-agent of this name; else for the main agent."
)


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
    "mcp",
    help="Serves one client over stdin and stdout, or several over HTTP on this machine alone. The main agent reads "
    "and writes; a sub-agent reads and proposes. Nothing here decides on a reflection. `workbench agents-md --mcp "
    "CLIENT` prints how a client is told of it.",
    answers="How does my agent get at this memory?",
    examples=("workbench mcp --schemas openai",),
)
@_AGENT
@click.option("--http", is_flag=True, help="Over streamable HTTP at 127.0.0.1 instead of stdin and stdout.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=DEFAULT_PORT,
    metavar="N",
    show_default=True,
    help="With --http: where to listen; 0 for any port that is free.",
)
@click.option(
    "--schemas",
    type=click.Choice(("openai",)),
    help="Print the tools as OpenAI function calling takes them, and serve nobody.",
)
@scope_option
def mcp_command(
    invocation: Invocation, agent: str | None, http: bool, port: int, schemas: str | None, scope: str | None
) -> int:
    role = _role(invocation, agent)
    scoped = scoped_door(invocation, scope, role)
    if scoped is not None:
        if schemas:
            raise click.UsageError("--schemas prints the owner’s tools.", click.get_current_context())
        with scoped as door:
            return _serve(door, port if http else None)
    if schemas:
        return _print_schemas(role)
    with invocation.workspace_class().open(invocation.locate(), role=role, clock=invocation.clock()) as door:
        code = _serve(door, port if http else None)
        if role == "main":
            # What changed in this session is in the next one's brief, which is told at once then.
            with suppress(WorkbenchError):
                prepare_brief(door, door.root, invocation.clock())
    return code


def _serve(door: Workspace | ScopedMemory, port: int | None) -> int:
    """Serve a door: over HTTP at a port, else over stdin and stdout."""
    if port is not None:
        from workbench.mcp.http import serve_http

        serve_http(door, port)
    else:
        from workbench.mcp.stdio import serve_stdio

        if sys.stdin.isatty():
            write([_FOR_PEOPLE], to_errors=True)
        serve_stdio(door)
    return DONE


def _role(invocation: Invocation, agent: str | None) -> str:
    """Return the role that agents are served in: never a person’s, and no more than the environment allows."""
    wanted = f"agent:{agent}" if agent is not None else invocation.role
    if wanted is None and not os.environ.get(ROLE_VARIABLE, "").strip():
        wanted = "main"
    role = role_of(wanted)
    if parse_role(role).kind == "person":
        raise RoleRefused(
            "Agents are not served as a person.",
            where="person",
            remedy="Leave --role out, or say --role main.",
        )
    return role


def _print_schemas(role: str) -> int:
    from workbench.mcp.tools import openai_functions

    print_json(openai_functions(parse_role(role)))
    return DONE


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
    help="Print instead how that client is told of the MCP server; json suits all others.",
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
