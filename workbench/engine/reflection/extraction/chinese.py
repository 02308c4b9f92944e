"""What Chinese says of its speaker, of persons and of things that is worth recording, clause by clause.

Each clause is judged by itself: one that asks, supposes, wishes, asks for something or tells of a mood says nothing,
and takes nothing from its neighbours. What is told goes on to the end of the sentence or to where somebody else
begins.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, Final

from workbench.engine.language.calendar import any_of
from workbench.engine.language.chinese import KIN, NAME, TRADE, Stance, clauses, simplified
from workbench.engine.language.orders import standing_orders
from workbench.engine.language.said_days import with_dates
from workbench.engine.patterns import lazy_pattern
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from datetime import date

    from workbench.engine.language.chinese import Clause
    from workbench.engine.language.said_days import Dated

_SHORTEST: Final = 4
_LONGEST: Final = 120
_OF_KIN: Final = 5.0
# In a note on somebody who is left out; what was done there may be the agent's.
_OF_THE_OWNER: Final = frozenset(("decision", "home", "work", "health", "preference"))
_COUNT: Final = "一二三四五六七八九十两"
_NUMBER: Final = (
    rf"(?:\d|[{_COUNT}百千万]{{2,}}|[{_COUNT}](?:月|号|日|点|天|周|个|年|次"
    r"|块|元|台|间|岁|套|人|家|名|页|章|节))"
)
_SELF: Final = r"(?:我们?|咱们?|本人|用户|使用者)"
# Of the person, or of what is theirs: 我们公司, 我家.
_OWN: Final = rf"{_SELF}(?:的)?(?:公司|团队|部门|小组|项目组|组|家|店|班)?"
_OPENING: Final = lazy_pattern(
    r"(?:嗯|哦|啊|对了?|是的|好的?|好了|行|其实|另外|还有|所以|但是?|不过|而且|而|然后|顺便说一下|顺便|补充一下|更正|更新|第[一二三四五]|主要是|等等)[,，、:：]?\s*"
)
_SAYS_THAT: Final = lazy_pattern(rf"(?:{_SELF}|{NAME})?(?:说|表示|提到|提到说|告诉我)[:：]?\s*[“「\"]?")
# A label names what its line is of: 科室例会：每周二早上.
_LABELLED: Final = lazy_pattern(
    r"(?P<label>[A-Za-z\u4e00-\u9fff][A-Za-z\u4e00-\u9fff ]{1,11})[:：]\s*(?=\S)(?!//)"
)
_NO_LABEL: Final = lazy_pattern(
    r"(?:注|备注|问题|疑问|待办|想法|链接|来源|日志|错误|警告|例如|比如|例子|参考|提示|总结|结论|todo|note)$",
    re.IGNORECASE,
)
_NAMELESS: Final = frozenset(("user", "the user"))
_USER: Final = lazy_pattern(r"^(?:用户|用戶|使用者)(?![数量群端体體们們画畫留增反调調协協])")
_ME: Final = lazy_pattern(r"我们|我們|咱们|咱們|我")
_MY_KIN: Final = lazy_pattern(rf"我家?(?=(?:{KIN})(?!们|們))")
# That is a way of working, and is proposed as one.
_STEPS: Final = lazy_pattern(
    r"(?:每次|每当|[^,，:：]{1,12}(?:流程|步骤|前|后|时))[^。]{0,12}?先(?!生)[^。]{2,60}?(?:再|然后|接着)"
)
_TRAILING: Final = lazy_pattern(r"[吧啊哦呀啦嘛呢]?[\s。.!！;；,，]*$")
_LATIN: Final = lazy_pattern(r"[A-Za-z][A-Za-z0-9.+#@-]{1,}")
_NAME_WITHIN: Final = lazy_pattern(
    rf"(?:由|是|叫|姓|给){NAME}|{NAME}(?:老师|医生|经理|先生|女士|教授|律师|师傅|总)|《[^》]+》|“[^”]+”"
    r"|[\u4e00-\u9fff]{2,}(?:公司|集团|大学|学院|医院|银行|研究所|研究院|教研室|实验室|中心|事务所|工作室|出版社)"
)


@dataclass(frozen=True, slots=True)
class Said:
    """What a Chinese sentence says.

    Args:
        kind: Of the statement: home, work, decision …
        value: Its worth.
        start: Its place in the sentence.
        end: Behind it.
        subject: Who it is of: `self` where it says so, `left out` where none is named, `person` or `thing`.
    """

    kind: str
    value: float
    start: int
    end: int
    subject: str


@dataclass(frozen=True)
class _Kinds:
    of_self: tuple[tuple[str, float, re.Pattern[str]], ...]
    of_person: tuple[tuple[str, float, re.Pattern[str]], ...]
    kin: re.Pattern[str]
    measured: re.Pattern[str]
    ends: re.Pattern[str]
    role: re.Pattern[str]
    changed: re.Pattern[str]
    dropped: re.Pattern[str]
    worth: dict[str, float]


@cache
def _kinds() -> _Kinds:
    table: dict[str, Any] = tomllib.loads(
        resources.files("workbench.engine.reflection.extraction").joinpath("chinese.toml").read_text("utf-8")
    )
    # Not without end: 刚刚 is also 刚 twice, and a long run of them would be read in every way.
    manner = f"(?:{any_of(table['manner'])}|从[^,，。]{{1,8}}?(?=搬|调|转|迁)){{0,4}}"
    predicate = rf"{manner}(?:不再|不|没有|没)?{manner}"

    def verbs(kind: dict[str, Any]) -> str:
        return "|".join(f"(?:{_filled(verb)})" for verb in kind["verbs"])

    kinds = table["kind"]
    thing = table["thing"]
    subject = (
        rf"(?!{any_of(thing['no_subject'])})"
        r"(?:[“「《][^”」》]{1,20}[”」》]|[\u4e00-\u9fffA-Za-z0-9.+#/·_ -]){2,24}?"
    )
    return _Kinds(
        tuple(
            (kind["name"], kind["value"], re.compile(rf"^(?P<self>{_OWN})?{predicate}(?:{verbs(kind)})"))
            for kind in kinds
        ),
        tuple(
            (kind["name"], kind["value"], re.compile(rf"^(?P<who>{NAME}){predicate}(?:{verbs(kind)})"))
            for kind in kinds
            if kind["subjects"] == "person"
        ),
        re.compile(
            rf"^(?:{_SELF}(?:的|家的?)?|{NAME}的)(?:{KIN}|生日|名字|职业|手机号|电话|邮箱|地址|车)"
            r"(?!.{0,4}(?:说|问|让|催|刚才|等))[^,，。]{2,}"
        ),
        re.compile(rf"^(?:我们?的)?{subject}(?P<verb>{any_of(thing['verbs'])})(?P<says>[^?？]{{0,40}})"),
        re.compile(
            rf"^(?:我们?的)?{subject}[^,，。?？]{{0,8}}?{_NUMBER}[^,，。?？]{{0,6}}?(?:{any_of(thing['ends'])})"
        ),
        re.compile(
            rf"^(?:[^,，。你您他她]{{0,10}}的?)?(?:{any_of(thing['roles'])})(?:现在|目前)?(?:是|姓|叫|换成|改成|改为)了?(?:{NAME}|[\u4e00-\u9fffA-Z])"
            rf"|^{subject}(?:现在|目前|以后|改)?(?:由|归){NAME}"
        ),
        re.compile(rf"^{subject}[^,，。]{{0,6}}?(?:{any_of(thing['changed'])})[^了,，。]{{1,2}}"),
        re.compile("|".join(f"(?:{pattern})" for pattern in table["dropped"]["patterns"]), re.IGNORECASE),
        {name: thing[name] for name in ("value", "of_a_role", "of_a_choice")},
    )


def _filled(pattern: str) -> str:
    return (
        pattern.replace("<NAME>", NAME)
        .replace("<KIN>", KIN)
        .replace("<NUMBER>", _NUMBER)
        .replace("<TRADE>", TRADE)
    )


def said_in_chinese(sentence: str, *, of_oneself: bool = True) -> list[Said]:
    """Return what a sentence says that is worth recording, in order.

    Args:
        sentence: As it was said.
        of_oneself: Whether somebody speaks, so that what has no subject is of the speaker; false for notes on others.
    """
    found: list[Said] = []
    read = clauses(sentence)
    if not any(clause.stance is Stance.OPEN for clause in read) and not _STEPS.match(
        simplified(sentence[:_LONGEST])
    ):
        orders = [range(*order) for order in standing_orders(sentence)]
        current: Said | None = None
        for clause in read:
            if not _states(clause) or any(clause.start in order for order in orders):
                _kept(current, found)
                current = None
                continue
            one = _said(clause, of_oneself=of_oneself)
            if current is not None and (one is None or one.subject in ("left out", "thing")):
                if clause.end - current.start > _LONGEST:
                    _kept(current, found)
                    current = None
                else:
                    current = Said(current.kind, current.value, current.start, clause.end, current.subject)
                continue
            _kept(current, found)
            current = one
        _kept(current, found)
    return found


def _kept(said: Said | None, found: list[Said]) -> None:
    if said is not None and said.end - said.start >= _SHORTEST:
        found.append(said)


def _states(clause: Clause) -> bool:
    return (
        clause.stance is Stance.STATES
        and len(clause.text) <= _LONGEST
        and _kinds().dropped.search(clause.text) is None
    )


def _said(clause: Clause, *, of_oneself: bool) -> Said | None:
    start = _opened(clause.text)
    plain = clause.text[start:]
    kinds = _kinds()
    label = _LABELLED.match(plain)
    if label is not None and _NO_LABEL.search(label["label"]):
        return None
    at = clause.start + start
    if not clause.passes and (label is not None and _is_concrete(plain[label.end() :])):
        return Said("circumstance", kinds.worth["value"], at, clause.end, "thing")
    if kinds.kin.match(plain):
        return Said("family", _OF_KIN, at, clause.end, "self")
    for name, value, pattern in kinds.of_self:
        one = pattern.match(plain)
        if one is None or (clause.passes and name in ("habit", "begun", "preference", "own")):
            continue
        if one["self"] or of_oneself or name in _OF_THE_OWNER:
            return Said(name, value, at, clause.end, "self" if one["self"] else "left out")
    for name, value, pattern in kinds.of_person:
        if pattern.match(plain) and not (clause.passes and name in ("habit", "begun", "preference")):
            return Said(name, value, at, clause.end, "person")
    return None if clause.passes else _of_a_thing(plain, at, clause.end)


def _of_a_thing(plain: str, at: int, end: int) -> Said | None:
    kinds = _kinds()
    if kinds.role.match(plain):
        return Said("circumstance", kinds.worth["of_a_role"], at, end, "thing")
    if kinds.changed.match(plain):
        return Said("decision", kinds.worth["of_a_choice"], at, end, "thing")
    measured = kinds.measured.match(plain)
    if (measured is not None and _is_concrete(plain[measured.start("verb") :])) or kinds.ends.match(plain):
        return Said("circumstance", kinds.worth["value"], at, end, "thing")
    return None


def _is_concrete(says: str) -> bool:
    """Return whether words hold a number, a day or a name."""
    return (
        re.search(_NUMBER, says) is not None
        or _LATIN.search(says) is not None
        or _NAME_WITHIN.search(says) is not None
    )


def _opened(text: str) -> int:
    """Return where a clause begins to say something, behind what joins it and behind whose words it gives."""
    start = 0
    for pattern in (_OPENING, _SAYS_THAT, _OPENING):
        found = pattern.match(text, start)
        start = found.end() if found else start
    return start


def told_in_chinese(quote: str, said: Said, name: str, day: date | None) -> Dated:
    """Return a statement as it can be read alone: by name, with absolute days, without what joins it to others.

    Args:
        quote: Its words.
        said: What they say.
        name: Of the speaker, or of the person whom notes are on.
        day: On which it was said.
    """
    name = "用户" if name.casefold() in _NAMELESS else name
    line = _TRAILING.sub("", " ".join(quote.split()))
    if said.subject == "left out" and not _ME.search(line):
        line = f"{name}{' ' if name[-1:].isascii() and line[:1].isascii() else ''}{line}"
    else:
        line = _USER.sub(name, line)
    return with_dates(_ME.sub(name, _MY_KIN.sub(f"{name}的", line)), day)
