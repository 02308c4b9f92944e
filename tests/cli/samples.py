"""Answers of the engine as tests need them: whole, small, and with hostile text where text can stand."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

from workbench.engine.results.account import Since, SinceChange
from workbench.engine.results.audit import (
    Action,
    Actions,
    Alert,
    Alerts,
    AuditEntry,
    AuditLog,
    Blame,
    BlameLine,
    Brief,
    Check,
    CommitView,
    Comparison,
    Copied,
    Diagnosis,
    DiffView,
    FileChanged,
    FileDiff,
    MemoryChange,
    Moment,
    PastFile,
    PastScore,
    PastScores,
    Verified,
    VerifyProblem,
)
from workbench.engine.results.decay import DecayEntry, DecayExplained, DecayView, Fall, Falls
from workbench.engine.results.graph import GraphEdge, GraphFact, GraphNode, GraphView
from workbench.engine.results.memories import (
    Changed,
    CoreBlock,
    CoreItem,
    CoreView,
    EntityRef,
    Excerpt,
    Forgotten,
    HistoryEntry,
    Links,
    Match,
    RelationRef,
    Remembered,
    Score,
    Shown,
    Validity,
)
from workbench.engine.results.recall import Cut, Explanation, Found, Hit, IndexStatus, Lane, Signals, WhyNot
from workbench.engine.results.reviews import CoreTokens, Proposals, Review, TokenUse

WHEN = datetime(2026, 2, 2, 14, 30, tzinfo=UTC)
COMMIT = "abc1234def5678abc1234def5678abc1234def56"
EPISODE = "episode:2026-02-02:14:30"
# Clears the screen, sets the title, reverses what follows, hides a letter, rings.
HOSTILE = "x\x1b[2J\x1b]0;owned\x07 \u202eevil\u200b\x9b31m\r\ud800[/b] [red]"

CHANGED = Changed(commit=COMMIT, files=("MEMORY.md",), ids=(EPISODE,))
UNCHANGED = Changed(commit=None)
REMEMBERED = Remembered(
    commit=COMMIT,
    files=("memory/episodes/2026-02-02.md",),
    ids=(EPISODE,),
    id=EPISODE,
    store="episodic",
    path="memory/episodes/2026-02-02.md",
    tags=("architecture",),
    entities=(EntityRef("entity:project--apollo", "project", "Apollo"),),
    relations=(RelationRef("entity:person--lena", "develops", "entity:project--apollo"),),
    summary="Chose the hybrid approach",
)
MATCH = Match(EPISODE, "episodic", "memory/episodes/2026-02-02.md", "Chose the hybrid approach", 0.83)
PREVIEW = Forgotten(matches=(MATCH,), applied=False)
FORGOTTEN = Forgotten(
    matches=(MATCH,), applied=True, commit=COMMIT, files=("memory/meta/decay-scores.json",), ids=(EPISODE,)
)
NO_MATCH = Forgotten(matches=(), applied=False)
HIT = Hit(
    id=EPISODE,
    path="memory/episodes/2026-02-02.md",
    start_line=3,
    end_line=6,
    snippet="Chose the hybrid approach over pure ones.",
    score=0.83,
    store="episodic",
    status="fading",
    signals=Signals(vector=None, text=0.9, graph=0.1, decay=0.8),
    title="decision",
    date="2026-02-02",
    citation="memory/episodes/2026-02-02.md#L3-L6",
    explanation=Explanation(
        lanes=(
            Lane("keywords", 1, 0.9, "hybrid, approach"),
            Lane("meaning", 12, 0.41),
            Lane("graph", None, None, "no entity of the question leads here"),
        ),
        relevance=0.85,
        decay_factor=0.97,
        nudges=("The question asks for the latest, and this is from 2026-02-02.",),
    ),
)
CUT = Cut(
    EPISODE, "memory/episodes/2026-02-02.md", 9, 9, 0.4, "near-duplicate", "It says what result 1 says."
)
FOUND = Found(
    (HIT,), "builtin", "static-256", None, False, 3.2, "latest", ("2026-02-01", "2026-02-28"), None, (CUT,)
)
NO_REVIEW = Review("", None, 0.0, False, (), TokenUse(0, 0), CoreTokens(0, 0), 0)
NO_PROPOSALS = Proposals(())
NOTHING = Found((), "none", None, "The server does not answer.", True, 0.4, stale="3 files are not read yet.")
WHY_NOT = WhyNot(EPISODE, None, "It is archived.", f"workbench restore {EPISODE}", HIT.explanation)
INDEX = IndexStatus(
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
EXCERPT = Excerpt("MEMORY.md", "# MEMORY\r\n\n- Name: Älex\n", 1, 3)
SHOWN = Shown(
    id="entity:person--lena#^f7k2",
    store="semantic",
    path="memory/graph/entities/person--lena.md",
    start_line=8,
    end_line=8,
    text="Prefers short reports",
    score=Score(0.77, 0.77, "active", {"base": 0.8, "access_count": 2, "pinned": False}),
    provenance=(EPISODE,),
    validity=Validity("2026-02-02", None, None),
    links=Links(to=("entity:project--apollo",), from_=()),
    history=(HistoryEntry(COMMIT, WHEN, "manual", "—", "reworded"),),
)
CORE = CoreView(
    blocks=(
        CoreBlock("Identity", 120, 500, (CoreItem("core:identity:name", "Name: Lena", False),)),
        CoreBlock("Critical Facts", 950, 1000, (CoreItem("core:critical-facts:x", "No Fridays", True),)),
        CoreBlock("Notes", 40, None, (), body="Free text."),
    ),
    tokens=1110,
    cap=3000,
)
DECAY = DecayView(
    now=WHEN,
    lambda_=0.03,
    entries=(
        DecayEntry(
            EPISODE, "episodic", 1.0, 0.8, 1, WHEN - timedelta(30), WHEN - timedelta(30), False, 0.33, 0.33,
            "fading", "Hybrid approach chosen", {"30": 0.13, "90": 0.02}, "dormant",
        ),
        DecayEntry(
            "entity:person--lena", "semantic", 1.0, None, 9, WHEN, WHEN, True, None, 1.0, "pinned", "Lena",
            {"30": 1.0, "90": 1.0},
        ),
    ),
)  # fmt: skip
FALLS = Falls(
    now=WHEN,
    lambda_=0.03,
    within=30,
    falls=(
        Fall(
            EPISODE, "episodic", "Hybrid approach chosen", "active", "fading", 0.5, 4,
            WHEN.date() + timedelta(4),
        ),
        Fall("entity:person--lena", "semantic", "Lena", "fading", "dormant", 0.2, 29, WHEN.date()),
    ),
)  # fmt: skip
EXPLAINED = DecayExplained(
    id=EPISODE,
    store="episodic",
    title="Hybrid approach chosen",
    now=WHEN,
    on=WHEN.date(),
    status="active",
    score=Score(
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
GRAPH = GraphView(
    center="entity:person--lena",
    nodes=(
        GraphNode("entity:person--lena", "person", "Lena", 1.0, 0),
        GraphNode("entity:project--apollo", "project", "Apollo", 0.9, 1),
        GraphNode("entity:tool--git", "tool", "Git", 0.5, 2),
    ),
    edges=(
        GraphEdge("entity:person--lena", "develops", "entity:project--apollo", "high", "2026-01-15", None),
        GraphEdge("entity:project--apollo", "uses", "entity:tool--git", "medium", None, None),
        GraphEdge("entity:tool--git", "relates-to", "entity:person--lena", "low", None, None),
    ),
    facts=(
        GraphFact(
            "entity:person--lena#^f7k2", "Short reports", (EPISODE,), Validity("2026-02-02", None, None)
        ),
        GraphFact(
            "entity:person--lena#^f3c1", "Long reports", (), Validity(None, "2026-02-02", "^f7k2"), True
        ),
    ),
    summary="Leads the project.",
)
EMPTY_GRAPH = GraphView(None, (), ())
ENTRY = AuditEntry(
    WHEN, "EDIT", "MEMORY.md", "reflection:r-012", "approved", "rewrote Identity (abc1234)", COMMIT
)
LOG = AuditLog((ENTRY,))
COMMIT_VIEW = CommitView(
    COMMIT, WHEN, "reflection:r-012", "approved", "reflection session", "[EDIT] MEMORY.md — rewrote Identity",
    ("MEMORY.md",), (ENTRY,), (("Actor", "reflection:r-012"), ("Reverts", "def5678")),
)  # fmt: skip
UNIFIED = "--- a/MEMORY.md\n+++ b/MEMORY.md\n@@ -1 +1 @@\n--- gone\n-old\n+new\n"
DIFF = DiffView(None, COMMIT, (FileDiff("MEMORY.md", "old\n", "new\n", UNIFIED),))
BLAME = Blame("MEMORY.md", (BlameLine(1, "# MEMORY", COMMIT, "manual", WHEN),))
MOMENT = Moment(WHEN, COMMIT, WHEN, (PastFile("MEMORY.md", 1234, "b" * 40, "# MEMORY\n"),))
NO_MOMENT = Moment(WHEN, None, None, ())
PAST_SCORES = PastScores(
    COMMIT, WHEN, (PastScore(EPISODE, "episodic", HOSTILE, Score(0.83, 0.83, "active", {})),)
)
COPIED = Copied(COMMIT, f"/tmp/{HOSTILE}", 2, 1234)
COMPARISON = Comparison(
    COMMIT,
    None,
    (FileChanged("MEMORY.md", "changed"),),
    (
        MemoryChange("core:x:y", "core", "MEMORY.md", HOSTILE, "removed", f"{HOSTILE}\n" * 5, None),
        MemoryChange(EPISODE, "episodic", "memory/episodes/x.md", "t", "changed", HOSTILE, "new"),
        MemoryChange("entity:a--b", "semantic", "memory/graph/entities/a--b.md", "t", "scored", "t", "t"),
        MemoryChange("file:x.md", "file", "x.md", "t", "added", None, "new"),
    ),
)
ACTIONS = Actions(
    (
        Action(
            COMMIT, COMMIT, 1, WHEN, WHEN, "EDIT", HOSTILE, HOSTILE, False, "auto", HOSTILE, HOSTILE, (HOSTILE,), 2,
            alerts=("a-1",), waiting=("a-1",),
        ),
        Action(COMMIT, COMMIT, 3, WHEN, WHEN, "EDIT", "reflection:r-001", "reflection:r-001", False, "approved",
               "review applied", "applied 3 items", ("MEMORY.md",), 3, accepted=3, undone_by=COMMIT),
    ),
    more=True,
    damaged=HOSTILE,
)  # fmt: skip
SINCE = Since(
    WHEN,
    WHEN,
    COMMIT,
    (
        SinceChange(
            EPISODE, "episodic", "memory/episodes/x.md", HOSTILE, "added", WHEN, HOSTILE, HOSTILE, COMMIT
        ),
    ),
    (SinceChange("core:x:y", "core", "MEMORY.md", "t", "pinned", WHEN, "manual", "person", COMMIT),),
    (SinceChange("file:x.md", "file", "x.md", "t", "removed", WHEN, "bot:main", "main", COMMIT),),
    (Fall(EPISODE, "episodic", HOSTILE, "fading", "dormant", 0.2, -3, WHEN.date()),),
    {HOSTILE: 2, "person": 1},
)
NO_COMPARISON = Comparison(COMMIT, COMMIT, (), ())
PAST = SimpleNamespace(
    commit=COMMIT,
    timestamp=WHEN,
    core=lambda: CORE,
    show=lambda _: SHOWN,
    graph=lambda _, depth: GRAPH,
    scores=lambda _: PAST_SCORES.scores,
    copy_to=lambda _: COPIED,
)
VERIFIED = Verified(True, (), 12, 30)
DAMAGED = Verified(False, (VerifyProblem("missing-line", "audit.log:3", "A line is gone."),), 12, 29)
ALERT = Alert(COMMIT, "SOUL.md", WHEN, "manual", "changed", UNIFIED, acknowledged=False)
ALERTS = Alerts((ALERT, Alert("0123456", "IDENTITY.md", WHEN, "manual", "changed", "", acknowledged=True)))
BRIEF = Brief("# MEMORY\n", 100, 3000, (ALERT,), 2, True, 9, ())
DIAGNOSIS = Diagnosis(
    ok=True,
    checks=(Check("git", "ok", "2.43"), Check("model", "degraded", "none", "Set providers.chat.")),
)
BROKEN = Diagnosis(ok=False, checks=(Check("history", "broken", "unreadable", "Restore it."),))
