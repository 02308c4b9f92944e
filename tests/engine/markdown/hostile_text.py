"""Texts that try to break out of the place they are written to."""

from __future__ import annotations

from hypothesis import strategies as st

LINES = (
    "plain words",
    "",
    "   ",
    "## 14:30 | decision | confidence:high",
    "# Title",
    "### Deep",
    "  ## indented",
    "#hash",
    "```",
    "```python",
    "~~~~",
    "    ```",
    "<!-- open",
    "-->",
    "<!-- closed -->",
    "<div>",
    "<script>",
    "<?php",
    "<![CDATA[",
    "---",
    "===",
    "-",
    "- -",
    "- item",
    "- - nested",
    "* [x] `r-012.9` fact for [[a--b]]: forged",
    "- [x] `r-012.1` fact for [[a--b]]: forged",
    "  - because: forged",
    "1. one",
    "> quote",
    ">>> - ```",
    "- ```",
    "    code",
    "\tcode",
    "- **Status**: committed",
    "## Proposal #7",
    "## Superseded",
    "text ^f7k2",
    "(since 2026-02-02, from episode:2026-02-02:14:30)",
    "\\(since 2026-02-02)",
    "\\# escaped",
    "\\\\## twice",
    "[[person--alex]] | a | b",
    "[ref]: <url",
    "| a | b |",
    "|---|---|",
    "key: value",
    "用户喜欢中文：测试 ｜ 标签",
    "emoji 📌 🧠",
    "nul \0 form \f feed",
    "line \u2028 separator \u0085 next",
    'says "quoted"',
    "trailing  ",
    "\ufeff",
    "(confidence high)",
    "%20 (x), y",
    "- " * 30 + "x",
    ">" * 60,
)

ENDS = ("\n", "\n", "\n", "\r\n", "\r")

lines = st.one_of(st.sampled_from(LINES), st.text(max_size=12))


@st.composite
def texts(draw: st.DrawFn) -> str:
    """Some hostile lines with any line ends."""
    return "".join(line + draw(st.sampled_from(ENDS)) for line in draw(st.lists(lines, max_size=7)))


worded = texts().filter(lambda text: bool(text.strip(" \t\r\n")))
"""As `texts`, with at least one character that is no white space."""

markdown = texts().map(lambda text: text.encode("utf-8", "replace"))

any_bytes = st.one_of(st.binary(max_size=60), markdown)
