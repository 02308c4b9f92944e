"""Answers of the engine as tests need them: whole, small, and with hostile text where text can stand."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

from workbench.engine import results as r

WHEN = datetime(2026, 2, 2, 14, 30, tzinfo=UTC)
COMMIT = "abc1234def5678abc1234def5678abc1234def56"
EPISODE = "episode:2026-02-02:14:30"
# Clears the screen, sets the title, reverses what follows, hides a letter, rings.
HOSTILE = "x\x1b[2J\x1b]0;owned\x07 \u202eevil\u200b\x9b31m\r\ud800[/b] [red]"

CHANGED = r.Changed(commit=COMMIT, files=("MEMORY.md",), ids=(EPISODE,))
UNCHANGED = r.Changed(commit=None)
REMEMBERED = r.Remembered(
    commit=COMMIT,
    files=("memory/episodes/2026-02-02.md",),
    ids=(EPISODE,),
    id=EPISODE,
    store="episodic",
    path="memory/episodes/2026-02-02.md",
    tags=("architecture",),
    entities=(r.EntityRef("entity:project--apollo", "project", "Apollo"),),
    relations=(r.RelationRef("entity:person--lena", "develops", "entity:project--apollo"),),
    summary="Chose the hybrid approach",
)
MATCH = r.Match(EPISODE, "episodic", "memory/episodes/2026-02-02.md", "Chose the hybrid approach", 0.83)
PREVIEW = r.Forgotten(matches=(MATCH,), applied=False)
FORGOTTEN = r.Forgotten(
    matches=(MATCH,), applied=True, commit=COMMIT, files=("memory/meta/decay-scores.json",), ids=(EPISODE,)
)
NO_MATCH = r.Forgotten(matches=(), applied=False)
HIT = r.Hit(
    id=EPISODE,
    path="memory/episodes/2026-02-02.md",
    start_line=3,
    end_line=6,
    snippet="Chose the hybrid approach over pure ones.",
    score=0.83,
    store="episodic",
    status="fading",
    signals=r.Signals(vector=None, text=0.9, graph=0.1, decay=0.8),
    title="decision",
    date="2026-02-02",
    citation="memory/episodes/2026-02-02.md#L3-L6",
    explanation=r.Explanation(
        lanes=(
            r.Lane("keywords", 1, 0.9, "hybrid, approach"),
            r.Lane("meaning", 12, 0.41),
            r.Lane("graph", None, None, "no entity of the question leads here"),
        ),
        relevance=0.85,
        decay_factor=0.97,
        nudges=("The question asks for the latest, and this is from 2026-02-02.",),
    ),
)
CUT = r.Cut(
    EPISODE, "memory/episodes/2026-02-02.md", 9, 9, 0.4, "near-duplicate", "It says what result 1 says."
)
FOUND = r.Found(
    (HIT,), "builtin", "static-256", None, False, 3.2, "latest", ("2026-02-01", "2026-02-28"), None, (CUT,)
)
NOTHING = r.Found(
    (), "none", None, "The server does not answer.", True, 0.4, stale="3 files are not read yet."
)
WHY_NOT = r.WhyNot(EPISODE, None, "It is archived.", f"workbench restore {EPISODE}", HIT.explanation)
INDEX = r.IndexStatus(
    files=120,
    chunks=2_400,
    entities=31,
    provider="local",
    model="embeddinggemma-300M",
    dimensions=768,
    dirty=True,
    last_sync=WHEN,
    size_bytes=12_345_678,
    fallback="The model file is missing.",
    pending=3,
    place="/home/lena/.cache/workbench/agent-1f",
)
EXCERPT = r.Excerpt("MEMORY.md", "# MEMORY\r\n\n- Name: Älex\n", 1, 3)
SHOWN = r.Shown(
    id="entity:person--lena#^f7k2",
    store="semantic",
    path="memory/graph/entities/person--lena.md",
    start_line=8,
    end_line=8,
    text="Prefers short reports",
    score=r.Score(0.77, 0.77, "active", {"base": 0.8, "access_count": 2, "pinned": False}),
    provenance=(EPISODE,),
    validity=r.Validity("2026-02-02", None, None),
    links=r.Links(to=("entity:project--apollo",), from_=()),
    history=(r.HistoryEntry(COMMIT, WHEN, "manual", "—", "reworded"),),
)
CORE = r.CoreView(
    blocks=(
        r.CoreBlock("Identity", 120, 500, (r.CoreItem("core:identity:name", "Name: Lena", False),)),
        r.CoreBlock("Critical Facts", 950, 1000, (r.CoreItem("core:critical-facts:x", "No Fridays", True),)),
        r.CoreBlock("Notes", 40, None, (), body="Free text."),
    ),
    tokens=1110,
    cap=3000,
)
DECAY = r.DecayView(
    now=WHEN,
    lambda_=0.03,
    entries=(
        r.DecayEntry(
            EPISODE, "episodic", 1.0, 0.8, 1, WHEN - timedelta(30), WHEN - timedelta(30), False, 0.33, 0.33,
            "fading", "Hybrid approach chosen", {"30": 0.13, "90": 0.02}, "dormant",
        ),
        r.DecayEntry(
            "entity:person--lena", "semantic", 1.0, None, 9, WHEN, WHEN, True, None, 1.0, "pinned", "Lena",
            {"30": 1.0, "90": 1.0},
        ),
    ),
)  # fmt: skip
FALLS = r.Falls(
    now=WHEN,
    lambda_=0.03,
    within=30,
    falls=(
        r.Fall(
            EPISODE, "episodic", "Hybrid approach chosen", "active", "fading", 0.5, 4,
            WHEN.date() + timedelta(4),
        ),
        r.Fall("entity:person--lena", "semantic", "Lena", "fading", "dormant", 0.2, 29, WHEN.date()),
    ),
)  # fmt: skip
EXPLAINED = r.DecayExplained(
    id=EPISODE,
    store="episodic",
    title="Hybrid approach chosen",
    now=WHEN,
    on=WHEN.date(),
    status="active",
    score=r.Score(
        0.7763, 0.7763, "active",
        {
            "base": 1.0, "lambda": 0.03, "days": 1, "decay": 0.97045, "accessCount": 1, "reinforcement": 1.0,
            "typeWeight": 0.8, "pinned": False, "archived": False,
        },
    ),
    half_life=23.1049,
    created=WHEN - timedelta(1),
    last_accessed=WHEN - timedelta(1),
    falls=FALLS.falls[:1],
)  # fmt: skip
GRAPH = r.GraphView(
    center="entity:person--lena",
    nodes=(
        r.GraphNode("entity:person--lena", "person", "Lena", 1.0, 0),
        r.GraphNode("entity:project--apollo", "project", "Apollo", 0.9, 1),
        r.GraphNode("entity:tool--git", "tool", "Git", 0.5, 2),
    ),
    edges=(
        r.GraphEdge("entity:person--lena", "develops", "entity:project--apollo", "high", "2026-01-15", None),
        r.GraphEdge("entity:project--apollo", "uses", "entity:tool--git", "medium", None, None),
        r.GraphEdge("entity:tool--git", "relates-to", "entity:person--lena", "low", None, None),
    ),
    facts=(
        r.GraphFact(
            "entity:person--lena#^f7k2", "Short reports", (EPISODE,), r.Validity("2026-02-02", None, None)
        ),
        r.GraphFact(
            "entity:person--lena#^f3c1", "Long reports", (), r.Validity(None, "2026-02-02", "^f7k2"), True
        ),
    ),
    summary="Leads the project.",
)
EMPTY_GRAPH = r.GraphView(None, (), ())
ENTRY = r.AuditEntry(
    WHEN, "EDIT", "MEMORY.md", "reflection:r-012", "approved", "rewrote Identity (abc1234)", COMMIT
)
LOG = r.AuditLog((ENTRY,))
COMMIT_VIEW = r.CommitView(
    COMMIT, WHEN, "reflection:r-012", "approved", "reflection session", "[EDIT] MEMORY.md — rewrote Identity",
    ("MEMORY.md",), (ENTRY,), (("Actor", "reflection:r-012"), ("Reverts", "def5678")),
)  # fmt: skip
UNIFIED = "--- a/MEMORY.md\n+++ b/MEMORY.md\n@@ -1 +1 @@\n--- gone\n-old\n+new\n"
DIFF = r.DiffView(None, COMMIT, (r.FileDiff("MEMORY.md", "old\n", "new\n", UNIFIED),))
BLAME = r.Blame("MEMORY.md", (r.BlameLine(1, "# MEMORY", COMMIT, "manual", WHEN),))
MOMENT = r.Moment(WHEN, COMMIT, WHEN, (r.PastFile("MEMORY.md", 1234, "b" * 40, "# MEMORY\n"),))
NO_MOMENT = r.Moment(WHEN, None, None, ())
PAST_SCORES = r.PastScores(
    COMMIT, WHEN, (r.PastScore(EPISODE, "episodic", HOSTILE, r.Score(0.83, 0.83, "active", {})),)
)
COPIED = r.Copied(COMMIT, f"/tmp/{HOSTILE}", 2, 1234)
COMPARISON = r.Comparison(
    COMMIT,
    None,
    (r.FileChanged("MEMORY.md", "changed"),),
    (
        r.MemoryChange("core:x:y", "core", "MEMORY.md", HOSTILE, "removed", f"{HOSTILE}\n" * 5, None),
        r.MemoryChange(EPISODE, "episodic", "memory/episodes/x.md", "t", "changed", HOSTILE, "new"),
        r.MemoryChange("entity:a--b", "semantic", "memory/graph/entities/a--b.md", "t", "scored", "t", "t"),
        r.MemoryChange("file:x.md", "file", "x.md", "t", "added", None, "new"),
    ),
)
NO_COMPARISON = r.Comparison(COMMIT, COMMIT, (), ())
PAST = SimpleNamespace(
    commit=COMMIT,
    timestamp=WHEN,
    core=lambda: CORE,
    show=lambda _: SHOWN,
    graph=lambda _, depth: GRAPH,
    scores=lambda _: PAST_SCORES.scores,
    copy_to=lambda _: COPIED,
)
VERIFIED = r.Verified(True, (), 12, 30)
DAMAGED = r.Verified(False, (r.VerifyProblem("missing-line", "audit.log:3", "A line is gone."),), 12, 29)
ALERT = r.Alert(COMMIT, "SOUL.md", WHEN, "manual", "changed", UNIFIED, acknowledged=False)
ALERTS = r.Alerts(
    (ALERT, r.Alert("0123456", "IDENTITY.md", WHEN, "manual", "changed", "", acknowledged=True))
)
BRIEF = r.Brief("# MEMORY\n", 100, 3000, (ALERT,), 2, True, 9, ())
DIAGNOSIS = r.Diagnosis(
    ok=True,
    checks=(r.Check("git", "ok", "2.43"), r.Check("model", "degraded", "none", "Set providers.chat.")),
)
BROKEN = r.Diagnosis(ok=False, checks=(r.Check("history", "broken", "unreadable", "Restore it."),))
