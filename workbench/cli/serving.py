"""The command group `mcp`: serving memory to agents, and the tokens with which they come in over the network."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from workbench.cli import collect_garbage_as_usual
from workbench.cli.command import group, scope_of, scope_option, scoped_door
from workbench.cli.invocation import DONE, NOTHING_FOUND, ROLE_VARIABLE, Invocation, print_json, role_of
from workbench.display.connections import added_lines, revoked_lines, tokens_lines
from workbench.display.text import write
from workbench.engine.clients.hooks import prepare_brief
from workbench.engine.errors import RoleRefused, WorkbenchError
from workbench.engine.roles import parse_role

if TYPE_CHECKING:
    from workbench.engine.scoped_memory import ScopedMemory
    from workbench.engine.services.access import TokenFolder
    from workbench.engine.workspace import Workspace
    from workbench.mcp.http import Listening

DEFAULT_PORT = 8757
_FOR_PEOPLE = (
    "workbench mcp: waits for an agent’s program to speak the Model Context Protocol here; `workbench agents-md --mcp "
    "claude-code` (codex, openclaw, json) prints how to register it. Leave with Ctrl-C."
)
_BEYOND = ("url", "tls_cert", "tls_key", "behind_proxy")
_FILE = click.Path(path_type=Path, dir_okay=False)

mcp_command = group(
    "mcp",
    default="serve",
    help="Serves one client over stdin and stdout, or several over HTTP: on this machine alone, or wherever they show "
    "a token. The main agent reads and writes; a sub-agent reads and proposes. Nothing here decides on a reflection. "
    "`workbench agents-md --mcp CLIENT` prints how a client is told of it.",
    answers="How does my agent get at this memory?",
    examples=("workbench mcp --schemas openai",),
)


@dataclass(frozen=True)
class _Asked:
    """What is asked of the server beside where it listens: the door of all clients, where they show no token."""

    agent: str | None
    scope: str | None


@mcp_command.subcommand("serve", short_help="Serve this memory to an agent over MCP", hidden=True)
@click.option("--agent", metavar="NAME", help="For the sub-agent of this name; else for the main agent.")
@click.option("--http", is_flag=True, help="Over streamable HTTP instead of stdin and stdout.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=DEFAULT_PORT,
    metavar="N",
    show_default=True,
    help="With --http: where to listen; 0 for any port that is free.",
)
@click.option(
    "--host",
    default="127.0.0.1",
    metavar="ADDRESS",
    show_default=True,
    help="With --http: where to listen. Beyond this machine every client needs a token.",
)
@click.option("--url", metavar="URL", help="With --http: where clients reach it, if not at that address.")
@click.option("--tls-cert", type=_FILE, metavar="FILE", help="With --http: the certificate, in PEM.")
@click.option("--tls-key", type=_FILE, metavar="FILE", help="With --http: its private key, in PEM.")
@click.option("--behind-proxy", is_flag=True, help="With --http: a proxy in front of it does TLS.")
@click.option(
    "--schemas",
    type=click.Choice(("openai",)),
    help="Print the tools as OpenAI function calling takes them, and serve nobody.",
)
@scope_option
def serve(
    invocation: Invocation,
    agent: str | None,
    http: bool,
    port: int,
    schemas: str | None,
    scope: str | None,
    **listening: Any,
) -> int:
    asked = _Asked(agent, scope)
    if not http and (listening["host"] != "127.0.0.1" or any(listening[name] for name in _BEYOND)):
        raise click.UsageError("Say --http too.", click.get_current_context())
    if http and not schemas:
        from workbench.mcp.http import HOST, Listening

        place = Listening(
            listening["host"] or HOST,
            port,
            listening["url"],
            listening["tls_cert"],
            listening["tls_key"],
            listening["behind_proxy"],
        )
        if _is_guarded(invocation, place, asked):
            return _serve_guarded(invocation, place)
        return _serve_door(invocation, asked, place)
    if schemas:
        if scope_of(scope) is not None:
            raise click.UsageError("--schemas prints the owner’s tools.", click.get_current_context())
        return _print_schemas(_role(invocation, agent))
    return _serve_door(invocation, asked, None)


def _is_guarded(invocation: Invocation, place: Listening, asked: _Asked) -> bool:
    """Return whether clients need a token: beyond loopback, and everywhere once the memory has one."""
    known = _tokens(invocation).all()
    # A token that cannot be read opens nothing, and leaves nothing open.
    if place.is_plain and not (known.tokens or known.unreadable):
        return False
    if asked.agent is not None or asked.scope is not None or invocation.role is not None:
        raise click.UsageError(
            "Each client comes in by a token here, which has a role and a scope of its own. Leave --agent, --role and "
            "--scope out.",
            click.get_current_context(),
        )
    return True


def _tokens(invocation: Invocation) -> TokenFolder:
    from workbench.engine.services.access import TokenFolder
    from workbench.engine.workspace import Workspace

    clock = invocation.clock()
    with Workspace.open(invocation.find(), role="reader", clock=clock) as workspace:
        return TokenFolder(workspace.state, clock)


def _serve_guarded(invocation: Invocation, place: Listening) -> int:
    from workbench.mcp.http import serve_guarded

    root = invocation.locate()
    if parse_role(role_of(None)).kind not in ("person", "main"):
        raise RoleRefused(
            "This shell serves no others.",
            where=ROLE_VARIABLE,
            remedy=f"Start the server where {ROLE_VARIABLE} is not set.",
        )
    collect_garbage_as_usual()
    serve_guarded(_tokens(invocation), root, place, invocation.clock())
    return DONE


def _serve_door(invocation: Invocation, asked: _Asked, place: Listening | None) -> int:
    role = _role(invocation, asked.agent)
    scoped = scoped_door(invocation, asked.scope, role)
    if scoped is not None:
        with scoped as door:
            return _answer(door, place)
    with invocation.workspace_class().open(invocation.locate(), role=role, clock=invocation.clock()) as door:
        code = _answer(door, place)
        if role == "main":
            # What changed in this session is in the next one's brief, which is told at once then.
            with suppress(WorkbenchError):
                prepare_brief(door, door.root, invocation.clock())
    return code


def _answer(door: Workspace | ScopedMemory, place: Listening | None) -> int:
    """Serve a door: over HTTP, else over stdin and stdout."""
    if place is not None:
        from workbench.mcp.http import serve_http

        collect_garbage_as_usual()
        serve_http(door, place)
    else:
        from workbench.mcp.stdio import serve_stdio

        if sys.stdin.isatty():
            write([_FOR_PEOPLE], to_errors=True)
        collect_garbage_as_usual()
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


token_command = group(
    "token",
    default="list",
    short_help="Say who may come in over the network",
    help="Tokens are kept outside the workspace, in your own state on this machine, so that no copy of the folder has "
    "them. Of each only a hash is kept. Every request is written into the log of its token.",
    answers="Which agents reach this memory from elsewhere?",
    examples=("workbench mcp token", "workbench mcp token add scout"),
)
mcp_command.add_command(token_command)


@token_command.subcommand("list", short_help="List the tokens, and when each was used last", hidden=True)
def list_tokens(invocation: Invocation) -> int:
    with _as_asked_by_environment(invocation) as workspace:
        found = workspace.tokens()
    return invocation.report(found, tokens_lines, code=DONE if found.tokens else NOTHING_FOUND)


@token_command.subcommand(
    "add",
    short_help="Make a token, and show it once",
    answers="How do I let an agent on another machine in?",
    examples=(
        "workbench mcp token add scout",
        "workbench mcp token add laptop --role main",
        "workbench mcp token add family --role reader --scope group:family",
    ),
)
@click.argument("name")
@click.option("--scope", metavar="SCOPE", help="Open only what is for person:NAME or group:NAME.")
@click.option(
    "--per-minute",
    type=click.IntRange(1, 60_000),
    default=120,
    metavar="N",
    show_default=True,
    help="Requests a minute that it may make.",
)
def add_token(invocation: Invocation, name: str, scope: str | None, per_minute: int) -> int:
    """With --role main, agent (which proposes, and is meant if you say nothing) or reader. What is done with a token is
    done in its name.
    """
    with _as_asked_by_environment(invocation) as workspace:
        done = workspace.token_add(name, role=invocation.role or "agent", scope=scope, per_minute=per_minute)
    return invocation.report(done, added_lines)


@token_command.subcommand(
    "revoke",
    short_help="Let nobody in with a token any more",
    answers="How do I shut an agent out?",
    examples=("workbench mcp token revoke scout",),
)
@click.argument("name")
def revoke_token(invocation: Invocation, name: str) -> int:
    """Its next request is refused, and what it has open ends. Its log stays."""
    with _as_asked_by_environment(invocation) as workspace:
        done = workspace.token_revoke(name)
    return invocation.report(done, revoked_lines)


def _as_asked_by_environment(invocation: Invocation) -> Workspace:
    """Open the workspace in the role of this shell: --role is the token’s here."""
    role, path = role_of(None), invocation.locate()
    invocation.opened = invocation.workspace_class().open(path, role=role, clock=invocation.clock())
    return invocation.opened
