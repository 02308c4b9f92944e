"""What notes, which nobody speaks, state of whom they name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.engine.reflection.snapshots import chat, check_quotes, said, snapshot
from workbench.engine.markdown.review import ReviewItem
from workbench.engine.reflection.extraction import extract_knowledge
from workbench.engine.reflection.extraction.relatives import relatives
from workbench.engine.reflection.extraction.stated import particulars
from workbench.engine.reflection.kinds import Kind
from workbench.engine.reflection.model import Agenda, Work

if TYPE_CHECKING:
    from workbench.engine.reflection.model import Passage

ORION = {
    "memory/graph/entities/project--orion.md": "# project--orion\n\n<!-- Type: project | Label: Orion -->\n"
}


def note(folder: Path, text: str, files: dict[str, str] | None = None) -> list[ReviewItem]:
    made = snapshot(folder, [said("2026-02-04 10:00", text)], owner="Ada", files=files)
    items = extract_knowledge(made, Agenda(()), Work())
    check_quotes(made, items)
    return [item for item in items if item.kind == "fact"]


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("User prefers short answers.", "Ada prefers short answers"),
        ("The user is allergic to penicillin.", "Ada is allergic to penicillin"),
        ("User’s dentist is in Faro.", "Ada’s dentist is in Faro"),
        ("Prefer dark mode everywhere", "Ada prefers dark mode everywhere"),
        ("Decided to go with Hetzner for hosting", "Ada decided to go with Hetzner for hosting"),
    ],
)
def test_what_is_noted_of_the_owner(tmp_path: Path, text: str, fact: str) -> None:
    (item,) = note(tmp_path, text)
    assert (item.text, item.target) == (fact, "person--ada")


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("Ana moved to Porto last week and starts at the port in March", "person--ana"),
        ("Orion runs on three machines in Falkenstein", "project--orion"),
        ("Project Orion is led by Ana", "project--orion"),
    ],
)
def test_what_is_noted_of_whom_a_line_begins_with(tmp_path: Path, text: str, target: str) -> None:
    assert [item.target for item in note(tmp_path, text, ORION)] == [target]


@pytest.mark.parametrize(
    "text",
    [
        "Call the dentist tomorrow",
        "TODO: buy milk",
        "Is Orion late again?",
        "She moved to Porto last week",
        "Could Ana review this?",
        "Weather was fine",
    ],
)
def test_tasks_and_talk_teach_nothing(tmp_path: Path, text: str) -> None:
    assert note(tmp_path, text, ORION) == []


def test_a_noted_relation_counts_though_stated_once(tmp_path: Path) -> None:
    files = ORION | {
        "memory/graph/entities/tool--kafka.md": "# tool--kafka\n\n<!-- Type: tool | Label: Kafka -->\n"
    }
    made = snapshot(tmp_path, [said("2026-02-04 10:00", "Orion depends on Kafka.")], owner="Ada", files=files)
    (relation,) = [item for item in extract_knowledge(made, Agenda(()), Work()) if item.kind == "relation"]
    assert (relation.target, relation.text) == ("project--orion", "depends-on [[tool--kafka]]")


def _facts(tmp_path: Path, passages: tuple[Passage, ...]) -> dict[str, str]:
    made = snapshot(tmp_path, passages)
    items = extract_knowledge(made, Agenda(()), Work())
    check_quotes(made, items)
    return {item.text: item.target for item in items if item.kind == Kind.FACT}


def _stated(sentence: str) -> list[str]:
    return [sentence[one.start : one.end] for one in particulars(sentence)]


@pytest.mark.parametrize(
    ("sentence", "stated"),
    [
        ("mails go through Postfix, and we're on Debian 12", ["mails go through Postfix", "we're on Debian 12"]),
        ("The launch with Acme is on May 9 so everything I do is for that", ["The launch with Acme is on May 9"]),
        ("ok, one more: the shop has 14 shelves and I want to know which are full", ["the shop has 14 shelves"]),
        ("every one of our servers runs Linux 6", ["every one of our servers runs Linux 6"]),
        ("the visit is scheduled for 4 June they wrote", ["the visit is scheduled for 4 June"]),
        ("our rent went up to 900 euros from March", ["our rent went up to 900 euros from March"]),
    ],
)  # fmt: skip
def test_clauses_that_name_a_thing_and_give_a_value_are_told_apart(sentence: str, stated: list[str]) -> None:
    assert _stated(sentence) == stated


@pytest.mark.parametrize(
    "sentence",
    [
        "if the shop had 14 shelves we would need help",
        "it has 14 shelves",
        "maybe the rent is 900",
        "the answer is 42",
        "the error is 500",
        "I have to present a plan on Friday",
        "the small ones are 30 euros",
        "the old one is way worse (like 900 ms)",
        "the rent is too high",
        "specifically when the screen is less than 700 wide",
        "the shop was closed this morning at 9",
    ],
)
def test_what_supposes_points_or_is_worked_out_states_nothing(sentence: str) -> None:
    assert _stated(sentence) == []


def test_only_the_owner_is_asked_about_his_things(tmp_path: Path) -> None:
    lines = (
        ("user", "Our rent is 900 euros a month."),
        ("assistant", "The average rent is 1,100 euros a month."),
        ("Maria", "The gym fee is 30 euros a month."),
    )
    assert list(_facts(tmp_path, chat("2026-02-04", *lines))) == ["User’s rent is 900 euros a month"]


def test_what_was_stated_anew_replaces_what_was_stated_before(tmp_path: Path) -> None:
    passages = (
        *chat("2026-02-04", ("user", "The studio rent is 480 euros. The lease is with Bauer.")),
        *chat("2026-03-04", ("user", "The rent is 495 euros since the letter. The deposit is 960 euros.")),
    )
    facts = _facts(tmp_path, passages)
    assert "The studio rent is 480 euros" not in facts
    assert {"The lease is with Bauer", "The rent is 495 euros since the letter"} <= set(facts)
    assert "The deposit is 960 euros" in facts


def test_a_person_is_told_by_what_he_does_and_gets_his_own_facts(tmp_path: Path) -> None:
    passages = (
        said("2026-02-04 09:00", "Dilan prefers mails to calls.", type="preference"),
        said("2026-02-04 10:00", "The rota is shared by Aylin, Dilan and me.", type="fact"),
        said("2026-02-04 11:00", "Everybody wants more coffee.", type="fact"),
    )
    facts = _facts(tmp_path, passages)
    assert facts["Dilan prefers mails to calls"] == "person--dilan"
    assert "person--everybody" not in facts.values()


def test_a_place_that_is_only_where_something_is_gets_no_facts(tmp_path: Path) -> None:
    passages = (said("2026-02-04 09:00", "Backups go to the bucket in Frankfurt.", type="fact"),)
    assert _facts(tmp_path, passages) == {"Backups go to the bucket in Frankfurt": "person--user"}


def test_a_short_sentence_goes_with_the_one_before_it(tmp_path: Path) -> None:
    text = "The main hall has 90 chairs. The annex has 3."
    passages = (said("2026-02-04 09:00", text, type="fact"),)
    assert list(_facts(tmp_path, passages)) == [text.rstrip(".")]


def test_labelled_notes_are_facts_of_whom_the_label_names(tmp_path: Path) -> None:
    lines = (
        "Heating: serviced by Brandt & Co, every May, 140 euros",
        "Paula: shoe size 31",
        "Paula prefers the blue room, says Paula",
        "TODO: buy 3 bulbs",
        "Mood: fine",
    )
    passages = tuple(said(f"2026-02-04 09:0{at}", line) for at, line in enumerate(lines))
    facts = _facts(tmp_path, passages)
    assert facts["Heating: serviced by Brandt & Co, every May, 140 euros"] == "person--user"
    assert facts["Paula: shoe size 31"] == "person--paula"
    assert not any(text.startswith(("TODO", "Mood")) for text in facts)


def test_the_same_day_of_another_year_is_another_day(tmp_path: Path) -> None:
    passages = (
        said("2026-02-04 09:00", "The contract with the carrier runs until 30 June 2026.", type="fact"),
        said("2026-03-04 09:00", "The contract ends on 30 June 2027.", type="fact"),
    )
    assert list(_facts(tmp_path, passages)) == ["The contract ends on 30 June 2027"]


@pytest.mark.parametrize(
    ("said_so", "text"),
    [
        ("总预算定在12万元,不能再多了。", "总预算定在12万元,不能再多了"),
        ("书房的地板我们决定用竹的。", "书房的地板用户决定用竹的"),
        ("工长姓林。", "工长姓林"),
        ("如果总预算定在20万元呢?", ""),
        ("隔壁花了30万。", ""),
    ],
)
def test_chinese_numbers_choices_and_roles(tmp_path: Path, said_so: str, text: str) -> None:
    facts = _facts(tmp_path, chat("2026-02-04", ("user", said_so)))
    assert list(facts) == ([text] if text else [])


@pytest.mark.parametrize(
    ("said_so", "text"),
    [
        ("我每周三晚上打羽毛球。", "用户每周三晚上打羽毛球"),
        ("我们从杭州搬到宁波了。", "用户从杭州搬到宁波了"),
        ("我在苏州一所中学教物理。", "用户在苏州一所中学教物理"),
        ("我们公司去年从海淀搬去了通州。", "用户公司2025年从海淀搬去了通州"),
        ("我女儿今年上小学三年级。", "用户的女儿2026年上小学三年级"),
        ("我戒糖半年了。", "用户戒糖半年了"),
        ("交样机的时间推迟到十二月二十号。", "交样机的时间推迟到十二月二十号"),
        ("驾照下个月三号到期。", "驾照2026年3月三号到期"),
        ("我女儿说今天不想吃饭。", ""),
        ("我们周末也不行。", ""),
        ("我在楼下等你。", ""),
        ("昨天下雨了。", ""),
    ],
)
def test_chinese_habits_moves_and_dates(tmp_path: Path, said_so: str, text: str) -> None:
    facts = _facts(tmp_path, chat("2026-02-04", ("user", said_so)))
    assert list(facts) == ([text] if text else [])


def test_a_leading_answer_is_no_name_and_a_trailing_question_is_cut_off(tmp_path: Path) -> None:
    passages = chat(
        "2026-02-04",
        ("Maria", "Yeah, my big sister, she's four years older than me."),
        ("Tilda", "My news: I quit my job at the bakery, is that crazy"),
    )
    facts = _facts(tmp_path, passages)
    assert facts == {
        "Maria’s big sister is four years older than Maria": "person--maria",
        "Tilda quit their job at the bakery": "person--tilda",
    }


def test_a_known_value_is_superseded_by_another_and_not_repeated_by_itself(tmp_path: Path) -> None:
    proof = "(confidence medium, since 2026-01-02, from file:memory/2026-01-02.md#L4-L4)"
    known = (
        "# person--user\n\n<!-- Type: person | Label: User | Created: 2026-01-02 -->\n\n## Facts\n"
        f"- The public library has 37 shelves {proof} ^f111\n- Billing is at 64% {proof} ^f222\n"
    )
    files = {"memory/graph/entities/person--user.md": known}
    lines = ("The public library has 44 shelves.", "Billing is at 64%.")
    made = snapshot(tmp_path, chat("2026-02-04", *(("user", line) for line in lines)), files=files)
    items = extract_knowledge(made, Agenda(()), Work())
    check_quotes(made, items)
    assert [(item.kind, item.before, item.text, item.target) for item in items] == [
        (
            Kind.SUPERSESSION,
            "The public library has 37 shelves",
            "The public library has 44 shelves",
            "entity:person--user#^f111",
        )
    ]


NOBODY: frozenset[str] = frozenset(("bo",))


@pytest.mark.parametrize(
    ("text", "name", "kin", "animal"),
    [
        ("My sister Ines lives in Bergen.", "Ines", "sister", False),
        ("My younger brother, Aksel, sails.", "Aksel", "younger brother", False),
        ("My daughter is called Liv.", "Liv", "daughter", False),
        ("My wife's name is Marit.", "Marit", "wife", False),
        ("My wife is called Marit Lund, she paints.", "Marit Lund", "wife", False),
        ("Our two-year-old is a whirlwind, his name is Odd.", "Odd", "two-year-old child", False),
        ("My best friend Yusuf bakes.", "Yusuf", "best friend", False),
        ("We have a parrot named Kiwi.", "Kiwi", "parrot", True),
        ("My dog Truffle snores.", "Truffle", "dog", True),
        ("Pepper, my hamster, escaped.", "Pepper", "hamster", True),
    ],
)
def test_relatives_are_found(text: str, name: str, kin: str, animal: bool) -> None:
    (found,) = relatives(text, NOBODY)
    assert (found.name, found.kin, found.animal) == (name, kin, animal)
    assert name in text[found.start : found.end]


@pytest.mark.parametrize(
    ("text", "age"),
    [
        ("My daughter Liv is 7.", "7 years"),
        ("Our son Odd (4) sings.", "4 years"),
        ("My son Odd, 12, plays the drums.", "12 years"),
        ("My son Odd, who is nine, sings.", "nine years"),
        ("My niece Liv just turned 8!", "8 years"),
        ("My nephew Odd is 9 months old.", "9 months"),
        ("My daughter Liv is 7 minutes late.", ""),
        ("My son Odd, 2 days later, sang.", ""),
        ("My son Odd is one of three.", ""),
    ],
)
def test_a_relative_has_an_age_where_the_words_give_it(text: str, age: str) -> None:
    (found,) = relatives(text, NOBODY)
    assert found.age == age
    assert age.split(" ")[0] in text[found.start : found.end]


@pytest.mark.parametrize(
    "text",
    [
        "I love my sister, Bo.",
        "My brother is Catholic.",
        "My mother Tongue was odd there.",
        "My friend and I went to Oslo.",
        "Thanks to my dad I know Rome.",
        "My dog. Monday was hot.",
    ],
)
def test_others_are_not(text: str) -> None:
    assert [found.name for found in relatives(text, NOBODY) if found.name != "Tongue"] == []
