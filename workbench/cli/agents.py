"""Commands that give memory to agents: how clients register its server, the text for their prompts."""

from __future__ import annotations

import json
import shlex

import click

from workbench.cli.command import command, program_words, scope_option, scoped_door
from workbench.cli.invocation import Invocation
from workbench.engine.clients.known import Server
from workbench.engine.roles import parse_role

CLIENTS = ("claude-code", "codex", "openclaw", "json")
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
