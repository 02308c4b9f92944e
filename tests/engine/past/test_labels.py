"""Labels told from the beginning of a file are those that taking it apart gives."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.engine.documents import EntityFile
from workbench.engine.past.labels import plain_label

NAME = "person--robin"
TITLES = (
    "# Robin Ek",
    f"# {NAME}",
    "# Robin `Ek`",
    "#Robin",
    "Robin\n=====",
    "## Robin",
    "# [[Robin]]",
    "#  Robin  ",
)
COMMENTS = (
    "<!-- Type: person | Label: Robin | Created: 2026-01-15 -->",
    "<!-- Label: Robin Ek -->",
    "<!-- Label : Robin -->",
    "<!-- Label: | Type: person -->",
    "<!-- Label：Robin -->",
    "<!-- Type: person | Label: A | Label: B -->",
    "<!-- Type: person -->\n<!-- Label: Second -->",
    "<!-- Merged into: [[person--other]] -->",
    "<!-- Type: person",
    "",
)
REST = ("", "\n## Aliases\n- Bobbin\n", "\n## Facts\n- <!-- Label: no --> tea\n", "\n# Another title\n")


@given(
    front=st.sampled_from(("", "\n", "---\naliases: [x]\n---\n", "\ufeff", "> ")),
    title=st.sampled_from(TITLES) | st.text(max_size=12).map("# {}".format),
    gap=st.sampled_from(("\n", "\n\n", "\r\n", "\n\n\n")),
    comment=st.sampled_from(COMMENTS),
    rest=st.sampled_from(REST),
)
def test_a_plain_label_is_the_label(front: str, title: str, gap: str, comment: str, rest: str) -> None:
    content = f"{front}{title}{gap}{comment}\n{rest}".encode()
    label = plain_label(content, NAME)
    if label is not None:
        file = EntityFile.parse(content, f"memory/graph/entities/{NAME}.md")
        assert label == file.label
        assert not any(key == "merged into" for key, _ in file.header)


@pytest.mark.parametrize("title", TITLES[:1])
def test_what_the_engine_writes_is_plain(title: str) -> None:
    assert plain_label(f"{title}\n\n{COMMENTS[0]}\n\n## Facts\n".encode(), NAME) == "Robin"
