"""A workspace with a private word in every kind of memory beside what a family and everybody may know."""

from __future__ import annotations

from collections.abc import Mapping

from tests.engine.services.agent_home import AgentHome

FAMILY = "group:family"
MARK = "quizzlewump"
"""The beginning of every private word; nothing else in these workspaces holds it."""
PUBLIC = {
    "memory/episodes/2026-02-01.md": (
        "# 2026-02-01 — Episode Log\n\n"
        "## 08:00 | decision | confidence:high | tags:[trip] | for:group:family\n"
        "The family chose the ferry for the Gotland trip.\n\n"
        "## 20:00 | event | confidence:high | for:shared\n"
        "The kitchen sink was mended by the plumber.\n"
    ),
    "memory/graph/entities/person--mira.md": (
        "# person--mira\n\n<!-- Type: person | Label: Mira | Created: 2026-01-15 | For: group:family -->\n\n"
        "## Facts\n"
        "- Prefers window seats (for group:family, since 2026-01-20) ^win1\n\n"
        "## Relations\n"
        "- knows: [[person--robin]] (for group:family, confidence high, since 2026-01-20) ^kno1\n"
    ),
    "memory/graph/entities/person--robin.md": (
        "# person--robin\n\n<!-- Type: person | Label: Robin | Created: 2026-01-15 -->\n\n"
        "## Facts\n- Is afraid of deep water (for shared, since 2026-01-16) ^wat1\n"
    ),
    "memory/procedures/pack-the-car.md": (
        "# Pack the car\n\n<!-- Type: procedure | Learned: 2026-01-18 | For: group:family -->\n\n"
        "## Trigger\nBefore a trip.\n\n## Steps\n1. Fold the seats\n2. Load the cooler\n"
    ),
    "memory/vault/house-rules.md": "---\nfor: group:family\n---\n# House rules\n\nShoes stay outside.\n",
}
"""What the family may know; days, names and block ids are apart from the private ones."""


def private(word: int) -> str:
    return f"{MARK}{word:02}"


PRIVATE = {
    "MEMORY.md": f"# MEMORY.md\n\n## Identity\n- Name: {private(1)}\n\n## Critical Facts\n- Ferry code {private(2)}\n",
    "SOUL.md": f"# Soul\n\nYou are {private(3)}.\n",
    "USER.md": f"- Trip wish {private(4)}\n",
    "TOOLS.md": f"- Tool {private(5)}\n",
    "memory/2026-01-30.md": f"# 2026-01-30\n\n- The ferry {private(6)}\n",
    "memory/episodes/2026-01-31.md": (
        "# 2026-01-31 — Episode Log\n\n"
        f"## 09:15 | decision | confidence:high | tags:[{private(7)}] | source:{private(8)}\n"
        f"The ferry to Gotland is {private(9)}.\n\n"
        f"## 10:00 | event | for:group:work\nThe work trip {private(10)}.\n\n"
        f"## 11:00 | event | for:group:family | for:group:work\nTwice said {private(11)}.\n\n"
        f"## 12:00 | event | for:group:familyandmore\nLonger name {private(12)}.\n\n"
        f"## 13:00 | event | for:person:family\nOther kind {private(13)}.\n\n"
        f"## 14:00 | event\nA body that says | for:group:family {private(14)}\n\n"
        f"## 15:00 | event | entities:[person--{private(15)}] | for:nobody\nNo scope {private(16)}.\n"
    ),
    "memory/graph/entities/project--quay.md": (
        f"# project--quay\n\n<!-- Type: project | Label: Quay {private(17)} -->\n\n"
        f"## Aliases\n- {private(18)}\n\n## Summary\nAbout {private(19)} (for group:family)\n\n"
        f"## Facts\n- Quay costs {private(20)} (since 2026-01-20) ^qay1\n"
        f"- Quay of work {private(21)} (for group:work, since 2026-01-20) ^qay2\n"
        f"- Quoted {private(22)} \\(for group:family) ^qay3\n\n"
        f"## Superseded\n- Was {private(23)} (for group:family, until 2026-01-20) ^qay4\n\n"
        f"## Timeline\n- 2026-01-20: Saw {private(24)} (for group:family)\n\n"
        f"## Open Questions\n- Is it {private(25)}?\n"
        f"## Relations\n- depends-on: [[project--{private(26)}]] (since 2026-01-20) ^qay5\n"
    ),
    f"memory/graph/entities/person--{private(27)}.md": (
        f"# person--{private(27)}\n\n<!-- Type: person | Label: Mira the ferry -->\n\n## Facts\n- Ferry {private(28)}\n"
    ),
    "memory/procedures/how-to-release.md": f"# How to trip {private(29)}\n\n## Steps\n1. Ferry {private(30)}\n",
    "memory/vault/promise.md": f"# Promise {private(31)}\n\nThe ferry {private(32)}. for: group:family\n",
    "memory/meta/pending-memories.md": (
        "# Pending Memories\n\n## Proposal #1\n"
        f"- **From**: scout\n- **Content**: The ferry {private(33)}\n- **Status**: pending\n"
    ),
    "memory/meta/pending-reflection.md": (
        f"# Reflection Summary — 2026-02-02\n\n## 🧠 New knowledge extracted\n- [ ] `r-002.1` fact for "
        f"[[person--robin]]: Likes {private(34)} (confidence high)\n"
    ),
    "memory/meta/rejected.md": f"# Rejected\n\n- fact for [[person--robin]]: Ferry {private(35)}\n",
    "memory/meta/evolution.md": f"# Evolution\n\n## 2026-01-01\n- Ferry {private(36)}\n",
}
"""What is the owner's alone, and nowhere but in files of its own."""

MIXED = {
    "memory/episodes/2026-02-01.md": (
        f"\n## 21:00 | event | confidence:high\nThe ferry ticket of the plumber {private(37)}.\n"
        f"\n## 22:00 | event | tags:[{private(38)}]\nWindow seats for the family {private(39)}.\n"
    ),
    "memory/graph/entities/person--robin.md": (
        f"- Drinks {private(40)} on the ferry (since 2026-01-20, from episode:2026-02-01:21:00) ^pri1\n"
        f"\n## Aliases\n- {private(41)}\n\n## Relations\n- knows: [[person--{private(27)}]] (since 2026-01-20) ^pri2\n"
    ),
    "memory/graph/entities/person--mira.md": f"\n## Summary\nMira {private(42)}\n\n## Aliases\n- {private(43)}\n",
    "memory/procedures/pack-the-car.md": f"\n## Learned From\n- vault:{private(44)}.md\n",
}
"""What is the owner's alone, and stands at the end of a file that the family sees a part of."""


def lay_out(home: AgentHome, *, with_private: bool) -> None:
    """Write the files, with or without what is private, and make their history."""
    for path, text in PUBLIC.items():
        home.write(path, text + (MIXED.get(path, "") if with_private else ""))
    files: Mapping[str, str] = PRIVATE if with_private else {"MEMORY.md": "# MEMORY.md\n"}
    for path, text in files.items():
        home.write(path, text)
    home.init()
    if with_private:
        # A change from outside to a critical file raises an alert, and history remembers what was said before.
        home.write("SOUL.md", f"# Soul\n\nYou were {private(45)}.\n")
        with home.open("main") as workspace:
            workspace.remember(f"The ferry captain is {private(46)}", store="episodic")
            workspace.remember(f"Mira owes {private(47)}", store="semantic", entities=["person:Mira"])
            workspace.audit_alerts()
