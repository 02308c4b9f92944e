"""Questions are few, rest on what was said, and do not wear a person out."""

from __future__ import annotations

from pathlib import Path

from tests.engine.catalog.shelf import ENTITIES
from tests.engine.reflection.rules.books import LOG, log
from tests.engine.reflection.snapshots import chat, check_quotes, faded, said, snapshot
from workbench.engine.markdown.review import ReviewItem
from workbench.engine.reflection.model import Guidance, Snapshot, Work
from workbench.engine.reflection.rules.looking_back import look_back
from workbench.engine.reflection.rules.questions import ask
from workbench.engine.reflection.rules.survey import survey

WAVES = (
    "# concept--waves\n\n<!-- Label: Waves -->\n\n"
    "## Open Questions\n- Which grid is fine enough for the harbour mouth?\n"
)


def asked(made: Snapshot, guidance: Guidance | None = None) -> list[ReviewItem]:
    """Return the questions; every quote must stand in its source."""
    items = ask(made, survey(made, Work()), guidance or Guidance(), Work())
    check_quotes(made, items)
    return list(items)


def test_an_open_question_is_asked_when_new_passages_speak_of_it(tmp_path: Path) -> None:
    passages = (
        said("2026-03-01 09:00", "Waves: a 480 metre grid is fine enough, error 14 cm", type="event"),
    )
    (item,) = asked(snapshot(tmp_path, passages, files={f"{ENTITIES}/concept--waves.md": WAVES}))
    assert item.text == "Waves: Which grid is fine enough for the harbour mouth?"
    assert item.target == "concept--waves"
    assert [proof.id for proof in item.evidence] == ["entity:concept--waves", "episode:2026-03-01:09:00"]


def test_it_is_not_asked_when_they_speak_of_something_else(tmp_path: Path) -> None:
    passages = (said("2026-03-01 09:00", "Waves cost 220 euros a month", type="decision"),)
    assert asked(snapshot(tmp_path, passages, files={f"{ENTITIES}/concept--waves.md": WAVES})) == []


def test_a_first_name_of_two_persons_is_asked_about(tmp_path: Path) -> None:
    files = {
        f"{ENTITIES}/person--sam-{name.lower()}.md": f"# person--sam\n\n<!-- Label: Sam {name} -->\n"
        for name in ("Berg", "Okafor")
    }
    passages = (
        said("2026-03-01 09:00", "We met Sam at the ferry", type="event"),
        said("2026-03-01 10:00", "We met Sam Berg at the ferry", type="event"),
    )
    (item,) = asked(snapshot(tmp_path, passages, files=files))
    assert item.text == "Who is Sam: Sam Berg or Sam Okafor?"
    assert item.evidence[0].quote == "We met Sam at the ferry"


def test_an_untouched_item_of_core_is_asked_about_unless_it_is_pinned(tmp_path: Path) -> None:
    core = (
        "## Critical Facts\n- The backup key lies with Idris\n- Wind data comes from SMHI <!-- pinned -->\n"
    )
    ids = (
        "core:identity:name",
        "core:critical-facts:the-backup-key-lies-with-idris",
        "core:critical-facts:wind-data-comes-from-smhi",
    )
    fading = tuple(faded(item, 0.3, store="core", last="2026-01-10") for item in ids)
    (item,) = asked(snapshot(tmp_path, files={"MEMORY.md": core}, fading=fading))
    assert item.text == "“The backup key lies with Idris” — is this still so?"
    assert "has not been accessed for 51 days" in item.reason


def test_an_item_whose_next_month_has_come_is_asked_about(tmp_path: Path) -> None:
    core = "## Active Context\n- Öckerö: starts on the first of next month\n"
    passage = said(
        "2026-01-20 09:00",
        "The council of Öckerö said yes; we start on the first of next month",
        type="event",
    )
    (item,) = asked(snapshot(tmp_path / "a", (passage,), files={"MEMORY.md": core}))
    assert item.text.startswith("“Öckerö: starts on the first of next month” was said on 2026-01-20.")
    fresh = said("2026-02-28 09:00", passage.text, type="event")
    assert asked(snapshot(tmp_path / "b", (fresh,), files={"MEMORY.md": core})) == []


def test_what_was_asked_twice_is_asked_in_other_words_once_and_then_rests(tmp_path: Path) -> None:
    passages = (
        said("2026-03-01 09:00", "Waves: a 480 metre grid is fine enough, error 14 cm", type="event"),
    )
    line = "- `r-00{}.9` deferred: question `concept--waves` {}"
    text = "Waves: Which grid is fine enough for the harbour mouth?"
    bodies = [line.format(1, text), line.format(2, text)]
    files = {f"{ENTITIES}/concept--waves.md": WAVES, LOG: log(*bodies)}
    made = snapshot(tmp_path / "a", passages, files=files)
    (item,) = asked(made, look_back(made, survey(made, Work()), Work()))
    assert item.text == f"Does it still matter: {text}"
    assert item.reason == "2 reflections asked it without an answer."
    files[LOG] = log(*bodies, line.format(3, item.text))
    made = snapshot(tmp_path / "b", passages, files=files)
    assert asked(made, look_back(made, survey(made, Work()), Work())) == []


def test_whether_a_question_matters_decides_on_nothing_in_core_memory(tmp_path: Path) -> None:
    turns = chat("2026-03-01", *(("Maria", "Hey John!"), ("John", "Hi Maria!")) * 12)
    text = "Whose memory is this: are you Maria or John?"
    line = "- `r-00{}.9` deferred: question `core:identity` {}"
    files = {LOG: log(line.format(1, text), line.format(2, text))}
    made = snapshot(tmp_path, turns, files=files)
    (item,) = asked(made, look_back(made, survey(made, Work()), Work()))
    assert (item.text, item.target) == (f"Does it still matter: {text}", "")
    assert "writes" not in dict(item.fields)


def test_it_is_asked_whose_memory_a_log_of_several_is(tmp_path: Path) -> None:
    turns = chat("2026-03-01", *(("Maria", "Hey John!"), ("John", "Hi Maria!")) * 12)
    (item,) = asked(snapshot(tmp_path / "a", turns))
    assert item.text == "Whose memory is this: are you Maria or John?"
    assert [proof.quote for proof in item.evidence] == ["Hey John!", "Hi Maria!"]
    assert (item.target, ("writes", "Name: …") in item.fields) == ("core:identity", True)
    assert asked(snapshot(tmp_path / "b", turns, owner="John")) == []
    assert (
        asked(snapshot(tmp_path / "c", chat("2026-03-01", *(("user", "Hey!"), ("assistant", "Hi!")) * 12)))
        == []
    )
