"""How many changes told in everyday words reflection raises: `python -m tests.benchmarks.everyday_changes`.

Each pair is said on two days. The first were written after the rules, which were not changed for those they miss. The
others were written before their author had looked at the rules, and of the second half, what is no change led to the
rule that nobody is held to what is said of somebody else. They are also read as one memory, where more is compared.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from tests.engine.reflection.snapshots import chat, snapshot
from workbench.engine.reflection.claims.finder import find_conflicts
from workbench.engine.reflection.model import Work

if TYPE_CHECKING:
    from collections.abc import Sequence

CHANGED = (
    ("I'm on the night shift.", "I'm no longer on the night shift."),
    ("I'm a member at Boulder Barn.", "I resigned from Boulder Barn today."),
    ("I smoke a pack a week.", "I gave up smoking cigarettes."),
    ("The bakery is on Elm Street.", "The bakery moved to Quay Lane."),
    ("The choir conductor is Ulla.", "Pia takes over the choir as conductor."),
    ("The invoice for the roof is 8,400 euros.", "Correction: the invoice is 9,100 euros."),
    ("The release is due on May 6.", "The release slipped to May 20."),
    ("I work at Nordwind.", "I quit my job at Nordwind."),
    ("i'm scared of heights", "i'm not scared of heights anymore"),
    ("My favorite podcast is Orbit.", "My current favorite podcast is Signal."),
    ("李雷负责测试。", "测试现在由韩梅梅负责。"),
    ("月租是3500元。", "月租改为4200元。"),
    ("Sam is our goalkeeper.", "Jo took over as goalkeeper."),
    ("I play tennis on Sundays.", "I stopped playing tennis."),
    ("My sister Ana lives in Graz.", "Ana moved to Linz."),
    ("The meeting point is Cafe Lumen.", "We meet at Cafe Prisma now."),
    ("The grant is 12,000 euros.", "Update: the grant is 15,000 euros."),
)
NOT_CHANGED = (
    ("My brother lives in Graz.", "I live in Linz."),
    ("Ben lives in Graz.", "Anna lives in Linz."),
    ("I'm hungry.", "Correction: dinner is at 7."),
    ("The roof costs 8,400 euros.", "Update: the kitchen costs 9,100 euros."),
    ("She works at Nordwind.", "I work at Südwind."),
    ("I quit smoking in 2019.", "I work at Smokehouse."),
    ("Ana is allergic to nuts.", "I'm not allergic to cats."),
    ("李雷负责测试。", "韩梅梅负责设计。"),
)

MORE_CHANGED = (
    ("We host the website on Netlify.", "We moved the website to Fly.io last night."),
    ("Tuesday is our standup day.", "Standup is on Thursdays from now on."),
    ("I drink two coffees every morning.", "I've switched to green tea in the mornings, no coffee any more."),
    (
        "My thesis advisor is Professor Lindqvist.",
        "Professor Amadi is my thesis advisor now, Lindqvist retired.",
    ),
    ("The wedding is on June 14.", "We had to push the wedding back to September 6."),
    ("We're flying with Lufthansa to Oslo.", "We'll take the train to Oslo instead of flying."),
    ("My landlord is Mr. Varga.", "The house was sold, my new landlord is a company called Immora."),
    ("Our backend is written in Ruby.", "We rewrote the backend in Go."),
    ("I'm training for a half marathon.", "I dropped the half marathon because of my knee."),
    (
        "Leo goes to the kindergarten on Park Street.",
        "Leo starts at the Montessori kindergarten on Monday, he left the one on Park Street.",
    ),
    (
        "The budget for the garden shed is 1,500 dollars.",
        "We agreed to spend up to 2,200 dollars on the garden shed.",
    ),
    ("I always order the oat latte.", "I can't stand oat milk these days."),
    ("Marta is our contact at the bank.", "Our contact at the bank is Diego, Marta went on parental leave."),
    ("The kids are in bed by 8.", "Bedtime for the kids is 8:30 now that it's summer."),
    ("我们每周三开例会。", "例会改到周五了。"),
    ("我在腾讯上班。", "我上个月从腾讯离职了,现在在一家创业公司。"),
    ("项目用的是MySQL。", "我们决定不用MySQL了,换成PostgreSQL。"),
    ("我家的猫叫豆豆,今年三岁。", "豆豆昨天满四岁了。"),
    ("房东是张阿姨。", "房子卖了,新房东姓刘。"),
    ("我每天早上跑步。", "最近膝盖疼,不跑步了,改成游泳。"),
)
MORE_NOT_CHANGED = (
    ("We host the website on Netlify.", "We host the newsletter on Mailchimp now."),
    ("Our standup is at 9:30.", "The dentist is at 11 now."),
    ("My thesis advisor is Professor Lindqvist.", "My sister's advisor is Professor Amadi."),
    ("The wedding is on June 14.", "The bachelor party is on May 30."),
    ("Our backend is written in Ruby.", "The mobile app is written in Kotlin."),
    ("I use a standing desk at work.", "I moved the lamp to the other desk."),
    ("I've been to Lisbon twice.", "I never want to miss Lisbon in spring."),
    ("Tom likes spicy food.", "Nina doesn't like spicy food."),
    ("The rent is 900 euros.", "The deposit is 1,800 euros."),
    (
        "I'm learning Spanish.",
        "I switched to the evening class for Spanish pronunciation, in addition to the morning one.",
    ),
    ("My car is a Skoda.", "My dad replaced his car with a Toyota."),
    ("We should meet at 5.", "We should meet more often instead of texting."),
    ("我在杭州工作。", "我弟弟现在在上海工作。"),
    ("会议室在三楼。", "食堂在二楼。"),
    ("我喜欢喝绿茶。", "她不喜欢喝绿茶,喜欢咖啡。"),
)


def is_raised(said: tuple[str, str]) -> bool:
    """Return whether the second of two statements is raised as a change of the first."""
    days = (chat(f"2026-01-{day:02}", ("user", text)) for day, text in enumerate(said, 1))
    with tempfile.TemporaryDirectory() as folder:
        return bool(find_conflicts(snapshot(Path(folder), [each for day in days for each in day]), Work()))


def raised_together(pairs: Sequence[tuple[str, str]]) -> int:
    """Return how many pairs are raised where all are said in one memory, a week apart."""
    said = [
        chat(day, *(("user", pair[at]) for pair in pairs))
        for at, day in enumerate(("2026-01-01", "2026-01-08"))
    ]
    with tempfile.TemporaryDirectory() as folder:
        items = find_conflicts(snapshot(Path(folder), [*said[0], *said[1]]), Work())
    cited = [{proof.id for proof in item.evidence} for item in items]
    return sum(any({one.id, other.id} <= ids for ids in cited) for one, other in zip(*said, strict=True))


def main() -> None:
    """Print how many are raised, and which are missed or wrong."""
    for changed, others in ((CHANGED, NOT_CHANGED), (MORE_CHANGED, MORE_NOT_CHANGED)):
        missed = [said for said in changed if not is_raised(said)]
        wrong = [said for said in others if is_raised(said)]
        print(
            f"{len(changed) - len(missed)} of {len(changed)} changes raised, {len(wrong)} of {len(others)} others;"
            f" in one memory {raised_together(changed)} and {raised_together(others)}"
        )
        for word, pairs in (("missed", missed), ("wrong", wrong)):
            for before, after in pairs:
                print(f"  {word}: {before} / {after}")


if __name__ == "__main__":
    main()
