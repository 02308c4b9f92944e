"""How every public method of the door is called, and what a role has to be allowed for it.

The tests walk the class and fail where a method is missing here.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from tests.engine.transfer import openclaw_pre_images
from workbench.engine import Workspace, layout
from workbench.engine.requests import ProposeRequest, RememberRequest, SearchRequest
from workbench.engine.results.inbox import ProposalTick, SecretTick
from workbench.engine.sync.conflicts import ConflictFile, ConflictRecord, Version

READ, PROPOSE, WRITE, PERSON = "read", "propose", "write", "person"
MAY = {
    "person": {READ, PROPOSE, WRITE, PERSON},
    "main": {READ, PROPOSE, WRITE},
    "agent:scout": {READ, PROPOSE},
    "reader": {READ},
}
ROBIN, HARBOUR = "entity:person--robin", "entity:project--harbour"
EPISODE = "episode:2026-02-01:09:15"
FACT = "entity:person--robin#^tea1"
RELATION = "entity:person--robin#^dev1"
SESSION = "agent:main:main"
NOON = datetime(2026, 2, 2, 12, tzinfo=UTC)
ITEM = "core:critical-facts:the-production-database-is-called"


@dataclass(frozen=True)
class Calling:
    """One call of a method on a furnished workspace with a history.

    Args:
        method: Its name.
        call: Calls it.
        needs: What the role has to be allowed.
        label: Tells several calls of one method apart.
        prepare: Brings about what the call needs; done by a person.
        is_own: Whether it is done by the caller instead, since only what is their own may be taken back.
    """

    method: str
    call: Callable[[Workspace], object]
    needs: str = READ
    label: str = ""
    prepare: Callable[[Workspace], object] | None = None
    is_own: bool = False

    @property
    def name(self) -> str:
        return f"{self.method}-{self.label}" if self.label else self.method


def newest(workspace: Workspace) -> str:
    """Return the newest commit, or one that does not exist where there is none."""
    return workspace.head() or "0" * 40


def oldest(workspace: Workspace) -> str:
    """Return the first commit, or one that does not exist where there is none."""
    return next(iter(workspace.history_line().commits), "0" * 40)


def an_alert(workspace: Workspace) -> str:
    alerts = workspace.audit_alerts().alerts
    return alerts[0].id if alerts else "a-00000000"


def edit_soul(workspace: Workspace) -> object:
    return workspace.edit_file("SOUL.md", "# Soul\n\nYou are loud.\n")


PROPOSAL = """# Reflection Summary — 2026-02-02

<!-- reflection: r-002 | created: 2026-02-02T03:00:00+01:00 -->

## 🧠 New knowledge extracted
- [x] `r-002.1` fact for [[person--robin]]: Prefers the night train (confidence high)
  - because: said so
- [-] `r-002.2` fact for [[person--robin]]: Dislikes lighthouses (confidence low)
- [>] `r-002.3` fact for [[person--robin]]: Owns a bicycle
- [ ] `r-002.4` fact for [[person--robin]]: Plays the organ
"""
REJECTED = """# Rejected

- `r-001.2` fact for [[person--robin]]: Prefers coffee
  - rejected: 2026-01-20T09:00:00+01:00 in r-001
"""


def a_proposal(workspace: Workspace) -> None:
    """Lay a proposal before the person that they have half decided, and something that they rejected before."""
    workspace.edit_file("memory/meta/pending-reflection.md", PROPOSAL)
    workspace.edit_file("memory/meta/rejected.md", REJECTED)


def a_secret(workspace: Workspace) -> object:
    """Let something be held back."""
    return workspace.remember("The password of the harbour Wi-Fi is gull-and-tern-7")


def two_proposals(workspace: Workspace) -> None:
    """Lay two proposals that contradict each other before whoever decides."""
    workspace.propose("The deadline of Harbour is March 15", store="semantic", entities=["project:Harbour"])
    workspace.propose("The deadline of Harbour is March 30", store="semantic", entities=["project:Harbour"])


def a_ticked_proposal(workspace: Workspace) -> None:
    """Let a person have ticked a proposal, and written nothing yet."""
    two_proposals(workspace)
    with Workspace.open(workspace.root, role="person") as persons:
        persons.inbox_tick_proposals({1: ProposalTick("accept")})


def undo_newest_tick(workspace: Workspace) -> None:
    step = workspace.next_steps().tick
    workspace.inbox_undo_tick(step.commit if step else "0")


def a_conflict(workspace: Workspace) -> None:
    """Let something have been changed differently by two devices."""
    core = (workspace.root / layout.CORE).read_text()
    line = next(each for each in core.splitlines() if each.startswith("- "))
    this, that = (Version(text, device, NOON) for text, device in ((line, "desk"), ("- Other", "lap")))
    record = ConflictRecord("c-0123456789", layout.CORE, line, None, this, that)
    (workspace.root / layout.CONFLICTS).write_bytes(ConflictFile({record.id: record}, {}).render())


def remote_of(workspace: Workspace) -> str:
    """Return where the remote of a workspace is, or would be made."""
    return str(workspace.root.parent / "remote.git")


def a_remote(workspace: Workspace) -> None:
    """Let a workspace share its memory with another device."""
    workspace.sync(remote_of(workspace), confirmed=True, device="desk")
    other = workspace.root.parent / "lap"
    other.mkdir()
    with Workspace.open(other, role="person") as lap:
        lap.sync(remote_of(workspace), confirmed=True, device="lap")
    workspace.sync()


SEALED_TO = "age1xxvte38xgvswsq2j6adcw774pq39rvks4xnzvdgut8sl4enrt4tqjd6ffz"


def a_sealed_remote(workspace: Workspace) -> None:
    """Let a workspace send its memory to a remote that is sealed."""
    workspace.sync(remote_of(workspace), confirmed=True, device="desk", sealed=True)


def a_session(workspace: Workspace) -> None:
    """Let something be said in a session."""
    workspace.session_append(SESSION, "We decided that backups run at midnight.")
    workspace.session_append(SESSION, "Noted.", role="assistant")


def elsewhere(workspace: Workspace) -> Path:
    """Lay a folder of somebody's notes beside the workspace."""
    folder = workspace.root.parent / "elsewhere"
    folder.mkdir(exist_ok=True)
    (folder / "recipes.md").write_text("# Recipes\n\nBoil the water first.\n", encoding="utf-8")
    return folder


def openclaw_state(workspace: Workspace) -> Path:
    """Lay a database with a copy of MEMORY.md beside the workspace."""
    database = workspace.root.parent / "state-folder/state/openclaw.sqlite"
    if not database.exists():
        openclaw_pre_images.make(database, {"2026-01-30T03:00:00Z": "# Memory\n\n- Drinks tea\n"})
    return database


def free_place(workspace: Workspace) -> Path:
    """Return a place beside the workspace at which nothing stands."""
    numbers = (workspace.root.parent / f"export-{number}" for number in range(1000))
    return next(place for place in numbers if not place.exists())


READING = (
    Calling("core", lambda w: w.core()),
    Calling("search", lambda w: w.search("lighthouse ferry")),
    Calling(
        "search_request", lambda w: w.search_request(SearchRequest("lighthouse ferry", store="episodic"))
    ),
    Calling("why", lambda w: w.why(FACT)),
    Calling("why_not", lambda w: w.why_not("lighthouse ferry", EPISODE)),
    Calling("index", lambda w: w.index()),
    Calling("to_forget", lambda w: w.to_forget("the ferry")),
    Calling("to_forget", lambda w: w.to_forget("scratch that"), label="last"),
    Calling("index_status", lambda w: w.index_status()),
    Calling("get", lambda w: w.get("memory/2026-01-30.md", from_=1, lines=3)),
    Calling("get", lambda w: w.get("memory/episodes/2026-02-01.md#L3-L4"), label="lines"),
    Calling("show", lambda w: w.show(EPISODE)),
    Calling("show", lambda w: w.show("Robin"), label="name"),
    Calling("show", lambda w: w.show(FACT), label="fact"),
    Calling("history_of", lambda w: w.history_of(EPISODE, "memory/episodes/2026-02-01.md")),
    Calling("broken_parts", lambda w: w.broken_parts()),
    Calling("instructions", lambda w: w.instructions()),
    Calling("instructions", lambda w: w.instructions(agent="scout", skill=True), label="skill"),
    Calling("core_preview", lambda w: w.core_preview("Persona", "Be kind")),
    Calling("resolve", lambda w: w.resolve("Harbour")),
    Calling("memory_around", lambda w: w.memory_around("memory/episodes/2026-02-01.md#L3-L4")),
    Calling("title", lambda w: w.title(EPISODE)),
    Calling("titles", lambda w: w.titles("procedural", "vault")),
    Calling("timeline", lambda w: w.timeline(query="tag:backup")),
    Calling("graph", lambda w: w.graph("Robin", depth=2)),
    Calling("graph", lambda w: w.graph(), label="whole"),
    Calling(
        "graph",
        lambda w: w.graph(
            "Robin", relations=["develops"], types=["project"], min_score=0.1, after="2026-01-01"
        ),
        label="narrowed",
    ),
    Calling("graph_path", lambda w: w.graph_path("Robin", "Harbour")),
    Calling("graph_entities", lambda w: w.graph_entities()),
    Calling("graph_count", lambda w: w.graph_count()),
    Calling("graph_relations", lambda w: w.graph_relations()),
    Calling("decay", lambda w: w.decay(forecast=(7, 30), lambda_=0.1)),
    Calling("decay_course", lambda w: [w.decay_course(w.decay(), one, (-9, 9)) for one in w.decay().entries]),
    Calling("decay_terms", lambda w: [w.decay_terms(w.decay(), one, 9) for one in w.decay().entries]),
    Calling("decay_explain", lambda w: w.decay_explain(EPISODE)),
    Calling("decay_falls", lambda w: w.decay_falls(30, lambda_=0.1)),
    Calling("brief", lambda w: w.brief()),
    Calling("since", lambda w: w.since("1d")),
    Calling("reflection_due", lambda w: w.reflection_due()),
    Calling("reflection_trace", lambda w: w.reflection_trace("r-001")),
    Calling("doctor", lambda w: w.doctor()),
    Calling("settings_listed", lambda w: w.settings_listed()),
    Calling("now", lambda w: w.now()),
    Calling("scoped", lambda w: w.scoped("group:family").instructions()),
    Calling("head", lambda w: w.head()),
    Calling("root", lambda w: w.root),
    Calling("role", lambda w: w.role),
    Calling("settings", lambda w: w.settings),
    Calling("warnings", lambda w: w.warnings),
    Calling("state", lambda w: w.state),
    Calling("refresh", lambda w: w.refresh()),
    Calling("watch", lambda w: w.watch(lambda _: None)()),
    Calling("find", lambda w: w.find(Path(w.root))),
    Calling("forget", lambda w: w.forget("ferry to Gotland"), label="preview"),
    Calling("message", lambda w: w.message("What a fine day it is."), label="nothing"),
    Calling("message", lambda w: w.message("What do you remember about the ferry?"), label="recall"),
    Calling("message", lambda w: w.message("Forget about the ferry to Gotland."), label="forget"),
    Calling("message", lambda w: w.message("What did you learn this week?"), label="learned"),
    Calling("message", lambda w: w.message("Why did you forget about the ferry?"), label="why-forgotten"),
    Calling("question", lambda w: w.question("What changed recently?")),
    Calling("actions", lambda w: w.actions(5)),
    Calling("action", lambda w: w.action(newest(w))),
    Calling("action_count", lambda w: w.action_count()),
    Calling("audit_log", lambda w: w.audit_log(limit=5)),
    Calling("audit_pages", lambda w: list(w.audit_pages(5))),
    Calling("audit_alerts", lambda w: w.audit_alerts()),
    Calling("history_line", lambda w: w.history_line()),
    Calling("alerts_waiting", lambda w: w.alerts_waiting()),
    Calling("review", lambda w: w.review()),
    Calling("review_waiting", lambda w: w.review_waiting()),
    Calling("review_preview", lambda w: w.review_preview()),
    Calling("review_rejected", lambda w: w.review_rejected()),
    Calling("proposals", lambda w: w.proposals()),
    Calling("inbox", lambda w: w.inbox()),
    Calling("inbox_waiting", lambda w: w.inbox_waiting()),
    Calling("inbox_preview", lambda w: w.inbox_preview()),
    Calling("conflicts", lambda w: w.conflicts()),
    Calling("sync_status", lambda w: w.sync_status()),
    Calling("sync_preview", lambda w: w.sync_preview(remote_of(w))),
    Calling("reflections", lambda w: w.reflections()),
    Calling("sessions", lambda w: w.sessions()),
    Calling("session", lambda w: w.session(SESSION), prepare=a_session),
    Calling("session_context", lambda w: w.session_context(SESSION), prepare=a_session),
    Calling("session_places", lambda w: w.session_places()),
    Calling("notes", lambda w: w.notes()),
    Calling("session_reader", lambda w: w.session_reader(SESSION), prepare=a_session),
    Calling("session_flush_check", lambda w: w.session_flush_check(SESSION), prepare=a_session),
    Calling("close", lambda w: w.close()),
)
READING_HISTORY = (
    Calling("audit_show", lambda w: w.audit_show(newest(w))),
    Calling("audit_diff", lambda w: w.audit_diff(newest(w), path="MEMORY.md")),
    Calling("audit_blame", lambda w: w.audit_blame("MEMORY.md")),
    Calling("audit_at", lambda w: w.audit_at("2026-02-03", path="MEMORY.md")),
    Calling("next_steps", lambda w: w.next_steps()),
    Calling("audit_verify", lambda w: w.audit_verify()),
    Calling("at", lambda w: w.at(newest(w)).moment),
    Calling("compare", lambda w: w.compare(newest(w))),
)
# Each of these is one action: one commit, which undo takes back.
ACTIONS = (
    Calling("reflect", lambda w: w.reflect(), WRITE),
    Calling(
        "remember",
        lambda w: w.remember("Robin reviews the backend of Harbour on Thursdays", entities=["person:Robin"]),
        WRITE,
    ),
    Calling("remember", lambda w: w.remember("The ferry leaves at nine", store="episodic"), WRITE, "episode"),
    Calling(
        "remember_request",
        lambda w: w.remember_request(RememberRequest("The ferry leaves at ten", store="episodic")),
        WRITE,
    ),
    Calling(
        "remember",
        lambda w: w.remember(
            "Kim runs the print shop", store="semantic", entities=["person:Kim", "place:Visby"]
        ),
        WRITE,
        "new-entities",
    ),
    Calling("remember", lambda w: w.remember("Prefers short answers", store="core"), WRITE, "core"),
    Calling(
        "remember",
        lambda w: w.remember("1. Open the valve\n2. Drain the boiler", store="procedural"),
        WRITE,
        "procedure",
    ),
    Calling("remember", lambda w: w.remember("The safe is behind the map", store="vault"), WRITE, "vault"),
    Calling(
        "remember",
        lambda w: w.remember("The rent is due on the first", store="episodic", pinned=True),
        WRITE,
        "pinned",
    ),
    Calling("message", lambda w: w.message("Remember that the ferry has a sauna."), WRITE, "remember"),
    Calling("forget", lambda w: w.forget(ids=[EPISODE], apply=True), WRITE, "apply"),
    Calling("forget", lambda w: w.forget(ids=[ITEM], apply=True), WRITE, "core"),
    Calling("forget", lambda w: w.forget("ferry to Gotland", apply=True), WRITE, "query"),
    Calling("forget", lambda w: w.forget(ids=[EPISODE], apply=True, hard=True), PERSON, "hard"),
    Calling(
        "restore",
        lambda w: w.restore(EPISODE),
        WRITE,
        prepare=lambda w: w.forget(ids=[EPISODE], apply=True),
    ),
    Calling("restore", lambda w: w.restore(ITEM), WRITE, "core", lambda w: w.forget(ids=[ITEM], apply=True)),
    Calling("pin", lambda w: w.pin(EPISODE), WRITE),
    Calling("pin", lambda w: w.pin(ITEM), WRITE, "core"),
    Calling("unpin", lambda w: w.unpin(EPISODE), WRITE, prepare=lambda w: w.pin(EPISODE)),
    Calling("unpin", lambda w: w.unpin(ITEM), WRITE, "core", lambda w: w.pin(ITEM)),
    Calling("reinforce", lambda w: w.reinforce(EPISODE), WRITE),
    Calling("edit", lambda w: w.edit(EPISODE, "Backups run at one in the morning."), WRITE, "episode"),
    Calling("edit", lambda w: w.edit(FACT, "Drinks coffee in the morning"), WRITE, "fact"),
    Calling("edit", lambda w: w.edit(ITEM, "The production database is called pier"), WRITE, "core"),
    Calling("edit", lambda w: w.edit("vault:promise", "# Promise\n\nNever share it.\n"), WRITE, "note"),
    Calling("edit_file", lambda w: w.edit_file("memory/2026-01-30.md", "# 2026-01-30\n\n- Walked\n"), WRITE),
    Calling("edit_file", lambda w: w.edit_file("memory/notes/new.md", "New.\n"), WRITE, "new"),
    Calling("edit_file", edit_soul, PERSON, "critical"),
    Calling(
        "edit_file",
        lambda w: w.edit_file("workbench.toml", 'timezone = "Europe/Oslo"\n'),
        PERSON,
        "settings",
    ),
    Calling("decay_keep", lambda w: w.decay_keep(0.05), PERSON),
    Calling("setting_change", lambda w: w.setting_change("core.cap", 2000), PERSON),
    Calling(
        "setting_reset",
        lambda w: w.setting_reset("core.cap"),
        PERSON,
        prepare=lambda w: w.setting_change("core.cap", 2000),
    ),
    Calling("core_set", lambda w: w.core_set("Persona", "- Be kind\n- Be brief"), WRITE),
    Calling("core_add", lambda w: w.core_add("Active Context", "The ferry leaves on Friday"), WRITE),
    Calling("core_replace", lambda w: w.core_replace(ITEM, "The database is called pier"), WRITE),
    Calling("core_remove", lambda w: w.core_remove(ITEM), WRITE),
    Calling("graph_merge", lambda w: w.graph_merge(ROBIN, HARBOUR), WRITE),
    Calling(
        "graph_unmerge",
        lambda w: w.graph_unmerge(HARBOUR),
        WRITE,
        prepare=lambda w: w.graph_merge(ROBIN, HARBOUR),
    ),
    Calling("graph_rename", lambda w: w.graph_rename("Robin", "Robin Ek"), WRITE),
    Calling("graph_link", lambda w: w.graph_link("Harbour", "depends-on", "Robin"), WRITE),
    Calling("graph_unlink", lambda w: w.graph_unlink("Robin", "develops", "Harbour"), WRITE),
    Calling("graph_add", lambda w: w.graph_add("place", "Visby"), WRITE),
    Calling("graph_add_fact", lambda w: w.graph_add_fact("Robin", "Sails at weekends"), WRITE),
    Calling("graph_retire", lambda w: w.graph_retire(FACT), WRITE, "fact"),
    Calling("graph_retire", lambda w: w.graph_retire(RELATION), WRITE, "relation"),
    Calling("graph_propose_merge", lambda w: w.graph_propose_merge("Robin", "Harbour"), WRITE),
)
PROPOSING = (
    Calling("propose", lambda w: w.propose("Robin sails at weekends", entities=["person:Robin"]), PROPOSE),
    Calling("propose_request", lambda w: w.propose_request(ProposeRequest("Robin sails on lakes")), PROPOSE),
    Calling("proposal_commit", lambda w: w.proposal_commit([1]), WRITE, prepare=two_proposals),
    Calling("proposal_reject", lambda w: w.proposal_reject([1]), WRITE, prepare=two_proposals),
    Calling("proposal_defer", lambda w: w.proposal_defer([1]), WRITE, prepare=two_proposals),
    Calling("proposal_keep_both", lambda w: w.proposal_keep_both([1, 2]), WRITE, prepare=two_proposals),
    Calling("proposal_settle", lambda w: w.proposal_settle([1], [2]), WRITE, prepare=two_proposals),
)
SECRETS = (
    Calling("secrets_held", lambda w: w.secrets_held(), prepare=a_secret),
    Calling("secrets_scan", lambda w: w.secrets_scan()),
    Calling("secrets_store", lambda w: w.secrets_store(1), PERSON, prepare=a_secret),
    Calling("secrets_reveal", lambda w: w.secrets_reveal(1), PERSON, prepare=a_secret),
    Calling("secrets_drop", lambda w: w.secrets_drop(1), PERSON, prepare=a_secret),
    Calling("secrets_allow", lambda w: w.secrets_allow(["0123456789abcdef"]), PERSON),
)
IMPORTING = (
    Calling("import_places", lambda w: w.import_places(), PROPOSE),
    Calling("import_preview", lambda w: w.import_preview(elsewhere(w)), PROPOSE),
    Calling("import_from", lambda w: w.import_from(elsewhere(w)), WRITE),
    Calling(
        "import_from", lambda w: w.import_from(elsewhere(w), imported_as="proposals"), PROPOSE, "proposals"
    ),
    Calling(
        "import_undo",
        lambda w: w.import_undo(newest(w)),
        WRITE,
        prepare=lambda w: w.import_from(elsewhere(w)),
        is_own=True,
    ),
    Calling("import_pre_images", lambda w: w.import_pre_images(openclaw_state(w)), PROPOSE),
    Calling("export", lambda w: w.export(free_place(w)), READ),
    Calling("export", lambda w: w.export(free_place(w), folder=True), READ, "folder"),
    Calling("export_lines", lambda w: list(w.export_lines()), READ),
)
DECIDING = (
    Calling("review_decide", lambda w: w.review_decide({"r-002.4": "approved"}), PERSON, prepare=a_proposal),
    Calling("inbox_tick", lambda w: w.inbox_tick(items={"r-002.4": "approved"}), PERSON, prepare=a_proposal),
    Calling(
        "inbox_tick_proposals",
        lambda w: w.inbox_tick_proposals({1: ProposalTick("accept")}),
        PERSON,
        prepare=two_proposals,
    ),
    Calling(
        "inbox_tick_secrets",
        lambda w: w.inbox_tick_secrets({1: SecretTick("drop")}),
        PERSON,
        prepare=a_secret,
    ),
    Calling("inbox_undo_tick", undo_newest_tick, PERSON, prepare=a_ticked_proposal),
    Calling(
        "inbox_tick_conflicts",
        lambda w: w.inbox_tick_conflicts({"c-0123456789": "that"}),
        PERSON,
        prepare=a_conflict,
    ),
    Calling(
        "conflict_settle", lambda w: w.conflict_settle("c-0123456789", "that"), PERSON, prepare=a_conflict
    ),
    Calling("sync", lambda w: w.sync(), WRITE, prepare=a_remote),
    Calling("sync", lambda w: w.sync(remote_of(w), confirmed=True), PERSON, "new"),
    Calling("sync_retire", lambda w: w.sync_retire("lap"), PERSON, prepare=a_remote),
    Calling("tokens", lambda w: w.tokens(), PERSON),
    Calling("token_add", lambda w: w.token_add("lap"), PERSON),
    Calling("token_revoke", lambda w: w.token_revoke("lap"), PERSON, prepare=lambda w: w.token_add("lap")),
    Calling("sync_key", lambda w: w.sync_key(), PERSON),
    Calling("sync_allow", lambda w: w.sync_allow(SEALED_TO), PERSON, prepare=a_sealed_remote),
    Calling(
        "sync_recovery",
        lambda w: w.sync_recovery(str(w.root.parent / "drawer.key")),
        PERSON,
        prepare=a_sealed_remote,
    ),
    Calling("sync_forget", lambda w: w.sync_forget(), PERSON, prepare=a_remote),
    Calling("inbox_write", lambda w: w.inbox_write(), PERSON, prepare=a_proposal),
    Calling("review_edit", lambda w: w.review_edit("r-002.4", "Plays the cello"), PERSON, prepare=a_proposal),
    Calling("review_apply", lambda w: w.review_apply(), PERSON, prepare=a_proposal),
    Calling("review_allow", lambda w: w.review_allow("r-001.2"), PERSON, prepare=a_proposal),
)
TAKING_BACK = (
    Calling("revert", lambda w: w.revert(newest(w)), WRITE, prepare=lambda w: w.pin(EPISODE), is_own=True),
    Calling(
        "rollback",
        lambda w: w.rollback(to="2026-02-02T14:30"),
        WRITE,
        prepare=lambda w: w.pin(EPISODE),
        is_own=True,
    ),
    Calling(
        "rollback",
        lambda w: w.rollback(memory=f"{FACT}@{oldest(w)}"),
        WRITE,
        "memory",
        prepare=lambda w: w.edit(FACT, "Drinks coffee in the morning"),
        is_own=True,
    ),
    Calling("undo", lambda w: w.undo(), WRITE, prepare=lambda w: w.pin(EPISODE), is_own=True),
    Calling("redo", lambda w: w.redo(), WRITE, prepare=lambda w: (w.pin(EPISODE), w.undo()), is_own=True),
)
SESSIONS = (
    Calling("session_append", lambda w: w.session_append(SESSION, "Hello"), WRITE),
    Calling("session_compact", lambda w: w.session_compact(SESSION), WRITE, prepare=a_session),
    Calling("session_flush", lambda w: w.session_flush(SESSION, now=True), WRITE, prepare=a_session),
    Calling("session_reset", lambda w: w.session_reset(SESSION), WRITE, prepare=a_session),
    Calling("session_repair", lambda w: w.session_repair(SESSION), WRITE, prepare=a_session),
    Calling("session_recover", lambda w: w.session_recover(SESSION, "order"), WRITE, prepare=a_session),
)
# A task that is handed out changes no memory; the last answer writes a proposal, as `reflect` does.
HANDED_OUT = (
    Calling("reflect_hand_out", lambda w: w.reflect_hand_out(), WRITE),
    Calling("reflect_take_in", lambda w: w.reflect_take_in({"items": []}), WRITE),
)
UPKEEP = (
    Calling("adopt", lambda w: w.adopt(), WRITE),
    Calling("settle", lambda w: w.settle(), WRITE),
    Calling("upkeep", lambda w: w.upkeep(), WRITE),
    Calling("audit_prune", lambda w: w.audit_prune(), WRITE),
    Calling("set_aside_history", lambda w: w.set_aside_history(), PERSON),
    Calling("begin_history", lambda w: w.begin_history(), PERSON),
    Calling("acknowledge", lambda w: w.acknowledge(an_alert(w)), PERSON, prepare=edit_soul),
    Calling(
        "forget", lambda w: w.forget(ids=[EPISODE], apply=True, purge_history=True), PERSON, "purge-history"
    ),
)
EVERY = (
    *READING,
    *READING_HISTORY,
    *ACTIONS,
    *PROPOSING,
    *IMPORTING,
    *SECRETS,
    *DECIDING,
    *TAKING_BACK,
    *UPKEEP,
    *HANDED_OUT,
    *SESSIONS,
)

# What the calls below are asked to change: names, ids and places of nothing, and what is none of these.
UNKNOWN = (
    "Nobody", "person--nobody", "entity:person--nobody#^f0", "episode:2020-01-01:00:00", "core:persona:nothing",
    "vault:nothing.md", "file:memory/nothing.md#L7", "r-999.9", "a-00000000", "0" * 40, "2020-01-01", "../../x",
    "", "]]",
)  # fmt: skip
# By method, and a label where there are several, a call that changes what does not exist.
ON_UNKNOWN: dict[str, Callable[[Workspace, str], object]] = {
    "forget": lambda w, it: w.forget(ids=[it], apply=True),
    "restore": lambda w, it: w.restore(it),
    "pin": lambda w, it: w.pin(it),
    "unpin": lambda w, it: w.unpin(it),
    "reinforce": lambda w, it: w.reinforce(it),
    "edit": lambda w, it: w.edit(it, "Something else"),
    "edit_file": lambda w, it: w.edit_file(it, "Something else\n"),
    "core_set": lambda w, it: w.core_set(it, "- Something else"),
    "core_add": lambda w, it: w.core_add(it, "Something else"),
    "core_replace": lambda w, it: w.core_replace(it, "Something else"),
    "core_remove": lambda w, it: w.core_remove(it),
    "graph_merge": lambda w, it: w.graph_merge(it, it),
    "graph_unmerge": lambda w, it: w.graph_unmerge(it),
    "graph_rename": lambda w, it: w.graph_rename(it, "Somebody"),
    "graph_link": lambda w, it: w.graph_link(it, "knows", it),
    "graph_unlink": lambda w, it: w.graph_unlink(it, "knows", it),
    "graph_add": lambda w, it: w.graph_add(it, it),
    "graph_add_fact": lambda w, it: w.graph_add_fact(it, "Sails"),
    "graph_retire": lambda w, it: w.graph_retire(it),
    "graph_propose_merge": lambda w, it: w.graph_propose_merge(it, it),
    "proposal_commit": lambda w, it: w.proposal_commit([999], replacing=[it]),
    "proposal_reject": lambda w, it: w.proposal_reject([999], reason=it),
    "proposal_defer": lambda w, _: w.proposal_defer([999]),
    "proposal_keep_both": lambda w, _: w.proposal_keep_both([998, 999]),
    "proposal_settle": lambda w, _: w.proposal_settle([998], [999]),
    "secrets_store": lambda w, _: w.secrets_store(999),
    "secrets_reveal": lambda w, _: w.secrets_reveal(999),
    "secrets_drop": lambda w, _: w.secrets_drop(999),
    "secrets_allow": lambda w, it: w.secrets_allow([it]),
    "import_from": lambda w, it: w.import_from(w.root.parent / "nowhere" / it),
    "import_undo": lambda w, it: w.import_undo(it),
    "review_decide": lambda w, it: w.review_decide({it: "approved"}),
    "review_edit": lambda w, it: w.review_edit(it, "Something else"),
    "review_apply": lambda w, _: w.review_apply(),
    "review_allow": lambda w, it: w.review_allow(it),
    "inbox_tick": lambda w, it: w.inbox_tick(items={it: "approved"}),
    "inbox_tick_proposals": lambda w, _: w.inbox_tick_proposals({999: ProposalTick("accept")}),
    "inbox_undo_tick": lambda w, it: w.inbox_undo_tick(it),
    "inbox_tick_conflicts": lambda w, it: w.inbox_tick_conflicts({it: "that"}),
    "conflict_settle": lambda w, it: w.conflict_settle(it, "that"),
    "inbox_tick_secrets": lambda w, _: w.inbox_tick_secrets({999: SecretTick("drop")}),
    "revert": lambda w, it: w.revert(it),
    "rollback": lambda w, it: w.rollback(memory=f"{it}@{it}"),
    "rollback-file": lambda w, it: w.rollback(file=it),
    "rollback-time": lambda w, it: w.rollback(to=it),
    "rollback-nowhere": lambda w, _: w.rollback(),
    "undo": lambda w, _: w.undo(),
    "redo": lambda w, _: w.redo(),
    "session_append": lambda w, it: w.session_append(it, "Hello"),
    "session_compact": lambda w, it: w.session_compact(it),
    "session_flush": lambda w, it: w.session_flush(it, now=True),
    "session_reset": lambda w, it: w.session_reset(it),
    "session_repair": lambda w, it: w.session_repair(it),
    "session_recover": lambda w, it: w.session_recover(it, it),
    "decay_keep": lambda w, _: w.decay_keep(-1),
    "sync_retire": lambda w, it: w.sync_retire(it),
    "token_add": lambda w, it: w.token_add(it),
    "token_revoke": lambda w, it: w.token_revoke(it),
    "sync_allow": lambda w, it: w.sync_allow(it),
    "sync_recovery": lambda w, it: w.sync_recovery(it),
    "setting_change": lambda w, it: w.setting_change(it, it),
    "setting_reset": lambda w, it: w.setting_reset(it),
    "acknowledge": lambda w, it: w.acknowledge(it),
}
# What changes something without being told what.
WITHOUT_TARGET = frozenset({
    "adopt", "settle", "upkeep", "audit_prune", "set_aside_history", "begin_history", "reflect",
    "reflect_hand_out", "reflect_take_in", "message", "remember",
    "remember_request", "propose", "propose_request", "inbox_write",
    "import_places", "import_preview", "import_pre_images", "sync", "sync_forget", "sync_key", "tokens",
})  # fmt: skip


def public_methods() -> set[str]:
    """Return everything public of the door but what makes one."""
    names = {name for name, _ in inspect.getmembers(Workspace) if not name.startswith("_")}
    return names - {"open", "init"}
