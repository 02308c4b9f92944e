"""Answers about the history and the state of a workspace: log, alerts, checks, briefs, diagnosis, daemon."""

from __future__ import annotations

from dataclasses import field
from datetime import datetime

from workbench.engine.results import OR_NULL
from workbench.engine.results.memories import Score
from workbench.engine.values import dataclass


@dataclass(frozen=True)
class AuditEntry:
    """One line of the audit log.

    Args:
        group: The first commit of the action that it belongs to; entries of one action have the same.
        action_commits: How many commits that action has.
    """

    timestamp: datetime
    action: str
    file: str
    actor: str
    approval: str
    summary: str
    commit: str | None
    group: str | None = None
    action_commits: int = 1


@dataclass(frozen=True)
class AuditLog:
    """Audit entries, newest first."""

    entries: tuple[AuditEntry, ...]


@dataclass(frozen=True)
class Changes:
    """What changed, or came into memory, newest first.

    Args:
        since: From when on; None where no time was named.
        until: Up to when; None where that is now.
        total: How many entries there are; `entries` are the newest of them.
    """

    since: datetime | None
    until: datetime | None
    total: int
    entries: tuple[AuditEntry, ...]


@dataclass(frozen=True)
class Lost:
    """A memory that is missed, and why.

    Args:
        status: Of its score: fading, dormant, archived; also `retired`, or active and pinned where nothing is wrong.
        reason: One sentence.
        remedy: The command that brings it back, or shows it.
        action: `ARCHIVE` or `DECAY`; None where it was neither.
        when: When the log says so; None where it does not name the memory.
        actor: Who did it.
        commit: In which commit.
    """

    id: str
    snippet: str
    status: str
    reason: str
    remedy: str
    action: str | None = None
    when: datetime | None = None
    actor: str | None = None
    commit: str | None = None


@dataclass(frozen=True)
class WhyForgotten:
    """Memories that are missed, the newest loss first, and log entries of files that were deleted."""

    memories: tuple[Lost, ...]
    entries: tuple[AuditEntry, ...]


@dataclass(frozen=True)
class WayBack:
    """What going back to a moment would undo; nothing of it is done.

    Args:
        moment: What was asked for; None where it names no day.
        commit: The newest that is not later.
        actions: How many would be undone.
        entries: The newest entries of these.
        reason: One sentence on what follows, or why there is no way.
        command: What does it; None where there is nothing to do.
    """

    moment: datetime | None
    commit: str | None
    actions: int
    entries: tuple[AuditEntry, ...]
    reason: str
    command: str | None = None


@dataclass(frozen=True, slots=True)
class Action:
    """What was done at once, in however many commits; a reflection or an import is one.

    Args:
        id: Full hash of its first commit; abbreviated where history is damaged and the log alone tells of it.
        newest: Hash of its newest commit.
        commits: How many it has.
        begun: When the first was made, in UTC.
        timestamp: When the newest was made, in UTC.
        kind: The first one's word of the audit vocabulary.
        owner: `person`, `main`, `agent:NAME`, `reflection:r-012`, `system:…`, or whom a person named.
        own: Whether it is the asker's.
        summary: What the first commit says it did.
        memories: Of how many memories the audit log tells.
        accepted: How many decisions of a person it wrote that were for what a reflection or an agent proposed, or for
            what was held back.
        declined: How many against.
        set_aside: How many that left it to the next reflection.
        alerts: Ids of the alerts it raised.
        waiting: Those that nobody has acknowledged.
        undone_by: The commit that took all of it back, unless it was done again since.
        upkeep: Whether it is the system's own housekeeping.
        reversible: Whether it stands and may be taken back whole, unless what it changed was changed since.
        device: The device it was done on, where memory is synced; else empty.
        critical: The critical files it changed, but for settings, which are set and taken back one by one.
        passing: Whether nothing came of it: a tick that was taken back, or the taking back or bringing back of a tick.
        returns: Whether it took something back or brought it back.
    """

    id: str
    newest: str
    commits: int
    begun: datetime
    timestamp: datetime
    kind: str
    actor: str
    owner: str
    own: bool
    approval: str
    trigger: str
    summary: str
    files: tuple[str, ...]
    memories: int
    accepted: int = 0
    declined: int = 0
    set_aside: int = 0
    alerts: tuple[str, ...] = ()
    waiting: tuple[str, ...] = ()
    undone_by: str | None = None
    upkeep: bool = False
    reversible: bool = True
    device: str = ""
    critical: tuple[str, ...] = ()
    passing: bool = False
    returns: bool = False


@dataclass(frozen=True)
class Actions:
    """A page of actions, newest first.

    Args:
        more: Whether there are older ones.
        damaged: What is wrong with the history, where some are told from the audit log; empty where nothing is.
        passed_over: How many passing ones were left out on the way to the last.
    """

    actions: tuple[Action, ...]
    more: bool = False
    damaged: str = ""
    passed_over: int = 0


@dataclass(frozen=True)
class Alert:
    """A change of a file that a person has to see.

    Args:
        level: `critical`, or `high` for USER.md and TOOLS.md (design document §12.1).
    """

    id: str
    file: str
    timestamp: datetime
    actor: str
    summary: str
    diff: str
    acknowledged: bool
    commit: str | None = None
    level: str = "critical"


@dataclass(frozen=True)
class NextStep:
    """What undo or redo would do.

    Args:
        commit: The first of the action.
        by: Whose it is, in words.
        timestamp: When it was done.
        own: Whether it is the asker's.
        file: The one that it changed first.
        accepted: Where it is several decisions of a person: how many were for it; else 0.
        declined: How many of those were against it.
        set_aside: How many left it to the next reflection.
    """

    commit: str
    by: str
    timestamp: datetime
    summary: str
    own: bool
    file: str = ""
    accepted: int = 0
    declined: int = 0
    set_aside: int = 0


@dataclass(frozen=True)
class NextSteps:
    """What undo, undo of one's own and redo would do; None where there is nothing.

    Args:
        tick: A tick in the Inbox that no commit holds, and that is newer than what undo takes back.
    """

    undo: NextStep | None = None
    own: NextStep | None = None
    redo: NextStep | None = None
    tick: NextStep | None = None

    @property
    def last(self) -> NextStep | None:
        """Return what was done last, a tick or an action."""
        return self.tick or self.undo


@dataclass(frozen=True)
class Alerts:
    """All alerts, newest first."""

    alerts: tuple[Alert, ...]


@dataclass(frozen=True)
class VerifyProblem:
    """A place where audit log, history and files disagree."""

    kind: str
    where: str
    detail: str


@dataclass(frozen=True)
class Verified:
    """What `audit verify` found; the files in `waiting` differ because nobody has decided on the secrets in them."""

    ok: bool
    problems: tuple[VerifyProblem, ...]
    commits: int
    entries: int
    waiting: tuple[str, ...] = ()


@dataclass(frozen=True)
class BlameLine:
    """Who wrote a line, and when."""

    line: int
    text: str
    commit: str
    actor: str
    timestamp: datetime


@dataclass(frozen=True)
class Blame:
    """A file's lines with who wrote each."""

    path: str
    lines: tuple[BlameLine, ...]


@dataclass(frozen=True)
class FileDiff:
    """How one file differs between two commits; `before` and `after` are None where there was no file."""

    path: str
    before: str | None
    after: str | None
    unified: str


@dataclass(frozen=True)
class DiffView:
    """What changed between two commits."""

    from_: str | None
    to: str
    files: tuple[FileDiff, ...]


@dataclass(frozen=True)
class ActionCommit:
    """One of the commits that make up an action."""

    commit: str
    timestamp: datetime
    subject: str


@dataclass(frozen=True)
class CommitView:
    """One commit with everything that accounts for it; `action` lists all commits of its action, newest first."""

    commit: str
    timestamp: datetime
    actor: str
    approval: str
    trigger: str
    subject: str
    files: tuple[str, ...]
    entries: tuple[AuditEntry, ...]
    trailers: tuple[tuple[str, str], ...]
    undone_by: str | None = None
    action: tuple[ActionCommit, ...] = ()


_OR_NULL = {OR_NULL: True}


@dataclass(frozen=True)
class HistoryLine:
    """Every commit on the way from the first to the newest, oldest first; all columns are equally long.

    What another device did is in the commit that joined it.

    Args:
        commits: Full hashes.
        seconds: When each was made, seconds since 1970 in UTC; may step back where a clock was set back.
        actors: Who made each: `manual`, `bot:main`, `reflection:r-012`, `system:decay`, …
    """

    commits: tuple[str, ...]
    seconds: tuple[int, ...]
    actors: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PastFile:
    """A tracked file as it was; `blob` is git's hash of its content."""

    path: str
    size: int
    blob: str
    text: str | None = None


@dataclass(frozen=True)
class Moment:
    """Memory as it was: the newest commit not later than a time.

    Args:
        time: What was asked for.
        commit: None where everything is later.
        timestamp: When the commit was made.
        actor: Who made it.
    """

    time: datetime
    commit: str | None
    timestamp: datetime | None
    files: tuple[PastFile, ...]
    actor: str = field(default="", metadata=_OR_NULL)
    summary: str = field(default="", metadata=_OR_NULL)


@dataclass(frozen=True, slots=True)
class MemoryChange:
    """How one memory differs between two moments.

    Args:
        change: added, changed, removed or scored (its text is the same, its pin or archiving is not).
        before: Its text at the earlier moment; None where it was not there.
        after: Its text at the later moment; None where it is not there.
        standing: What was done to one that was scored: pinned, unpinned, archived or restored; superseded for an
            added one that holds no more, as what somebody corrected.
    """

    id: str
    store: str
    path: str
    title: str
    change: str
    before: str | None
    after: str | None
    standing: str = field(default="", metadata=_OR_NULL)


@dataclass(frozen=True, slots=True)
class FileChanged:
    """How one file differs between two moments: added, changed or removed."""

    path: str
    change: str


@dataclass(frozen=True)
class Comparison:
    """What is different at a later moment; `to` is None where that is the files as they are now.

    Args:
        memories: In the order core, episodic, semantic, procedural, vault, other files.
    """

    from_: str | None
    to: str | None
    files: tuple[FileChanged, ...]
    memories: tuple[MemoryChange, ...]


@dataclass(frozen=True)
class ActionDone:
    """What an action did.

    Args:
        memories: How each memory it touched reads before and after, files about memory left out.
        bookkeeping: How the other files differ.
        alerts: Those it raised.
        undone: The action that took it back; None where it stands.
        obstacle: Why it cannot be taken back now; empty where it can, or was.
        back: How each memory would read if it was taken back now; none where that was not tried.
    """

    action: Action
    memories: tuple[MemoryChange, ...]
    bookkeeping: tuple[FileChanged, ...] = ()
    alerts: tuple[Alert, ...] = ()
    undone: Action | None = None
    obstacle: str = ""
    back: tuple[MemoryChange, ...] = ()


@dataclass(frozen=True)
class Copied:
    """What was written out of a commit into a folder of its own."""

    commit: str
    folder: str
    files: int
    bytes: int


@dataclass(frozen=True)
class PastScores:
    """Scores at a moment in the past, by the constants as they are now."""

    commit: str
    timestamp: datetime
    scores: tuple[PastScore, ...]


@dataclass(frozen=True, slots=True)
class PastScore:
    """A memory's score at a moment in the past."""

    id: str
    store: str
    title: str
    score: Score


@dataclass(frozen=True)
class LogEntry:
    """One episode, or one stretch of a flat daily log.

    Args:
        day: `2026-02-02` in the workspace's zone.
        time: `14:30`, or None where the log does not say.
        text: Its text; only the beginning where it is cut.
        cut: Whether `text` is not all of it.
    """

    id: str
    day: str
    time: str | None
    path: str
    text: str
    cut: bool = False


@dataclass(frozen=True)
class LogOmitted:
    """How many entries of a file are left out of a brief for want of room."""

    path: str
    entries: int


@dataclass(frozen=True)
class RecentLog:
    """The log of today and yesterday, newest first.

    Args:
        omitted: What did not fit, all of it older than `entries`.
        tokens: Of `entries`.
        budget: Most tokens that they may take.
    """

    entries: tuple[LogEntry, ...] = ()
    omitted: tuple[LogOmitted, ...] = ()
    tokens: int = 0
    budget: int = 0


@dataclass(frozen=True)
class OwnProposal:
    """What became of a proposal of the agent that asks.

    Args:
        status: `committed` or `rejected`, or while it waits `pending`, `conflict` or `deferred`.
        content: What it says; of a decided one the beginning.
        reason: Why it was rejected, where somebody said so.
        became: The memory that it was stored as, where that is known.
    """

    number: int
    status: str
    content: str
    reason: str = field(default="", metadata=_OR_NULL)
    became: str = field(default="", metadata=_OR_NULL)


@dataclass(frozen=True)
class Brief:
    """What an agent needs at the start of a session; what changes least comes first.

    Args:
        conflicts: Pairs of proposals, by number, that contradict each other and wait.
        own_proposals: Of the agent that asks: verdicts since it was last told, newest first, then what
            waits; the newest of each.
    """

    core: str
    tokens: int
    cap: int
    log: RecentLog = field(default=RecentLog(), kw_only=True)
    alerts: tuple[Alert, ...]
    proposals_waiting: int
    conflicts: tuple[tuple[int, int], ...] = field(default=(), kw_only=True)
    own_proposals: tuple[OwnProposal, ...] = field(default=(), kw_only=True)
    reflection_due: bool
    unprocessed_episodes: int
    notices: tuple[str, ...]


@dataclass(frozen=True)
class Check:
    """One line of `doctor`: `state` is ok, degraded or broken."""

    name: str
    state: str
    detail: str
    remedy: str | None = None


@dataclass(frozen=True)
class Diagnosis:
    """What works here, what is degraded and how to mend it."""

    ok: bool
    checks: tuple[Check, ...]


@dataclass(frozen=True)
class DaemonDue:
    """Something that will be looked at: `what` is sync, upkeep or reflect; `at` is aware."""

    what: str
    at: datetime


@dataclass(frozen=True)
class DaemonStatus:
    """Whether a daemon looks after a workspace, and what it did last.

    Args:
        died: Whether the last one ended without saying so: it was killed, or the machine went off.
        pid: Of the process that runs, or ran last; None where that is not known.
        since: When it began, aware; None where none ever ran here.
        ended: When it ended as it should; None where it did not, or runs.
        last_sync: When the search index was brought up to date last.
        last_adoption: When edits from outside were taken in last.
        last_reflection: When it last wrote a proposal.
        next_due: What comes next by the clock, the soonest first.
        problems: What does not work now, one sentence each.
    """

    running: bool
    died: bool = False
    pid: int | None = None
    since: datetime | None = None
    ended: datetime | None = None
    last_sync: datetime | None = None
    last_adoption: datetime | None = None
    last_reflection: datetime | None = None
    next_due: tuple[DaemonDue, ...] = ()
    problems: tuple[str, ...] = ()


@dataclass(frozen=True)
class BriefMemory:
    """One memory in few words; `date` is the day it is of, or None."""

    id: str
    store: str
    date: str | None
    text: str


@dataclass(frozen=True)
class ScopedBrief:
    """What an agent needs at the start of a session with other people: what is for them, newest first.

    Args:
        scope: `person:SLUG` or `group:SLUG`.
        memories: The newest of them.
    """

    scope: str
    memories: tuple[BriefMemory, ...]
    total: int
