"""The ids that commits take out of the files are kept as digests, and found again from the commits alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine.history.notebook import Notebook
from workbench.engine import layout
from workbench.engine.history.commits import SPENT_IDS, parse_message
from workbench.engine.history.spent_ids import is_spent
from workbench.engine.identifiers import entity_name

DAY = "memory/episodes/2026-02-02.md"
ALEX = "memory/graph/entities/person--alex.md"
LOG = "# 2026-02-02 — Episode Log\n\n## 14:30 | event\nOne.\n"
MORE = f"{LOG}\n## 14:30 #2 | event\nTwo.\n"


@pytest.fixture
def notebook(tmp_path: Path) -> Notebook:
    made = Notebook(tmp_path)
    made.write(DAY, LOG)
    made.write(ALEX, "# person--alex\n\n## Facts\n- Likes tea ^f1\n- Likes jam ^f2\n")
    return made


def spent(notebook: Notebook) -> bytes | None:
    return notebook.history.now().read(layout.SPENT_IDS)


def trailer(notebook: Notebook, commit: str) -> str | None:
    return parse_message(notebook.history.store.commit(commit)).trailer(SPENT_IDS)


def test_what_is_added_or_reworded_retires_nothing(notebook: Notebook) -> None:
    assert trailer(notebook, notebook.write(DAY, MORE)) is None
    assert trailer(notebook, notebook.write(DAY, MORE.replace("One.", "First."))) is None
    reworded = "# person--alex\n\n## Facts\n- Likes jam ^f2\n- Likes green tea ^f1\n"
    assert trailer(notebook, notebook.write(ALEX, reworded)) is None
    assert spent(notebook) == b""


def test_what_goes_is_known_by_its_whole_id(notebook: Notebook) -> None:
    notebook.write(DAY, MORE)
    commit = notebook.write_all({DAY: LOG, ALEX: "# person--alex\n\n## Facts\n- Likes jam ^f2\n"})
    found = spent(notebook)
    for gone in ("episode:2026-02-02:14:30#2", "entity:person--alex#^f1"):
        assert is_spent(found, gone)
    for other in ("episode:2026-02-02:14:30", "entity:person--alex#^f2", "entity:person--eve#^f1"):
        assert not is_spent(found, other)
    assert len((trailer(notebook, commit) or "").split()) == 2


@pytest.mark.parametrize("name", ["Mira Holm", "ä", "a.b", "person--alex"])
def test_what_goes_out_of_a_note_is_known_by_the_id_of_its_entity(notebook: Notebook, name: str) -> None:
    path = f"{layout.ENTITIES}/{name}.md"
    notebook.write(path, "- Sails ^f3\n")
    notebook.write(path, None)
    assert is_spent(spent(notebook), f"entity:{entity_name(name)}#^f3")


def test_a_reflection_that_moves_into_the_log_is_not_gone(notebook: Notebook) -> None:
    notebook.write(layout.PENDING_REFLECTION, "<!-- reflection: r-007 -->\n")
    notebook.write_all({layout.PENDING_REFLECTION: None, layout.REFLECTION_LOG: "## r-007\n"})
    assert not is_spent(spent(notebook), "r-007")
    notebook.write(layout.REFLECTION_LOG, "")
    assert is_spent(spent(notebook), "r-007")


def test_it_is_made_again_from_the_commits_and_mended_where_it_was_torn(notebook: Notebook) -> None:
    notebook.write(DAY, None)
    whole = spent(notebook)
    place = notebook.root / layout.SPENT_IDS
    place.unlink()
    notebook.write("MEMORY.md", "# Core\n")
    assert spent(notebook) == whole
    place.write_bytes((whole or b"") + b"0123")
    notebook.write(ALEX, None)
    found = spent(notebook)
    assert is_spent(found, "episode:2026-02-02:14:30")
    assert is_spent(found, "entity:person--alex#^f1")
    assert not is_spent(None, "episode:2026-02-02:14:30")
