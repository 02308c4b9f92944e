"""The instructing part of the door: what an agent's prompt should say about this memory."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.engine.agents.roles import MAIN, Role, parse_role

if TYPE_CHECKING:
    from workbench.engine.agents.instructions import Phrases
    from workbench.engine.workspace.ground import Ground

_MOST_PHRASES = 8
_OPTIONAL = re.compile(r"\[[^\[\]]*\]\s*")
_CHOICE = re.compile(r"\(([^()|]*)[^()]*\)")


class Instructing:
    """Says how agents are to use this memory; it reads the settings and no memory."""

    _ground: Ground

    def instructions(self, *, agent: str | None = None, skill: bool = False) -> str:
        """Return the text for an agent's prompt, as Markdown.

        Args:
            agent: Name of the sub-agent that it is for; of the one this door was opened for, or the main agent, by
                default.
            skill: As a SKILL.md, with the front matter by which agents find it.

        Raises:
            InvalidInput: That is no name for an agent, or the user's own trigger phrases cannot be read.
        """
        from workbench.engine.agents import instructions as texts

        role = self._instructed(agent)
        phrases = _phrases(self._ground)
        write = texts.skill if skill else texts.instructions
        return write(role, self._ground.settings, phrases, self._ground.root)

    def _instructed(self, agent: str | None) -> Role:
        if agent is not None:
            return parse_role(f"agent:{agent}")
        own = self._ground.role
        return own if own.kind in ("agent", "reader") else MAIN


def _phrases(ground: Ground) -> Phrases:
    from workbench.engine.agents.instructions import Phrases
    from workbench.engine.triggers.phrases import load_phrases

    own = ground.settings.triggers.phrases
    shipped = {phrase for language in load_phrases().languages for phrase in language.phrases}
    book = load_phrases(ground.root / Path(own).expanduser() if own else None)

    def said(group: str) -> tuple[str, ...]:
        added: list[str] = []
        usual: list[str] = []
        for language in book.languages:
            for phrase in language.phrases:
                words = _plain(phrase.source) if phrase.group == group else ""
                if words and phrase not in shipped:
                    added.append(words)
                elif words and language.name == "en":
                    usual.append(words)
        return (*dict.fromkeys(added), *list(dict.fromkeys(usual))[:_MOST_PHRASES])

    return Phrases(said("remember"), said("forget"), said("reflect"))


def _plain(source: str) -> str:
    """Return a phrase as somebody would say it; nothing where it is no plain beginning."""
    words = _CHOICE.sub(r"\1", _OPTIONAL.sub("", source)).strip()
    words = words.removesuffix("…").strip()
    return "" if any(sign in words for sign in "…<>[]()|") else words
