"""What the beginning of a file tells is what taking it apart gives."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.engine.markdown.entity import EntityFile
from workbench.engine.past.files import EntityHead, read_entity_head

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
    "<!-- Type: person | Created: 2026-01-15 | Pinned: Yes -->",
    "<!-- Created: | Created: 2026-01-15 | created : soon | Pinned: no -->",
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
def test_a_plain_head_is_the_head(front: str, title: str, gap: str, comment: str, rest: str) -> None:
    content = f"{front}{title}{gap}{comment}\n{rest}".encode()
    head = read_entity_head(content, NAME)
    if head is not None:
        file = EntityFile.parse(content, f"memory/graph/entities/{NAME}.md")
        assert head == (file.label, file.created or "", file.pinned)
        assert not any(key == "merged into" for key, _ in file.header)


@pytest.mark.parametrize(
    ("comment", "head"),
    [
        (COMMENTS[0], EntityHead("Robin", "2026-01-15", False)),
        (COMMENTS[8], EntityHead("Robin Ek", "2026-01-15", True)),
    ],
)
def test_what_the_engine_writes_is_plain(comment: str, head: EntityHead) -> None:
    assert read_entity_head(f"{TITLES[0]}\n\n{comment}\n\n## Facts\n".encode(), NAME) == head


def test_a_label_that_is_cut_elsewhere_is_not_told_whole() -> None:
    assert read_entity_head(f"# {'r' * 201}\n\n<!-- Type: person -->\n".encode(), NAME) is None
