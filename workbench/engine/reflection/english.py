"""English: classes of words that telling who says what about whom turns on, and the third person.

What somebody says about himself is put into the third person, or attributed where that would not do.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from workbench.engine.patterns import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Iterator

_OPENING = lazy_pattern(
    r"(?:(?:please|and|but|so|also|well|ok|okay|hmm+|oh|hey|hi|sure|yes|yeah|yep|actually|by the way|btw|anyway|plus"
    r"|in fact|honestly|basically|haha|thanks|wow)\b[,!.]*[ ]+)+(?=\S)",
    re.IGNORECASE,
)
_MARKUP = lazy_pattern(r"\*\*|__|(?<!\w)\*(?=\w)|(?<=\w)\*(?!\w)")
_KEPT = lazy_pattern(r"`[^`]*`|\\\(.*?\\\)|\\\[.*?\\\]|\"[^\"]*\"|“[^”]*”|\[\[[^\]]*\]\]|https?://\S+")
_WORD = lazy_pattern(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_BE: Final = {"am": "is", "was": "was", "have": "has", "do": "does", "don't": "doesn't", "haven't": "hasn't"}
_IRREGULAR = {"go": "goes", "be": "is", "do": "does", "have": "has", "am": "is"}
_OF_THEY = {"am": "are", "was": "were", "wasn't": "weren't"}
_LIKE_I = frozenset(
    ("phase", "part", "type", "chapter", "war", "class", "level", "stage", "volume", "section", "act")
)
_OTHER_SUBJECTS = frozenset(("to", "that", "which", "who", "they", "if", "when", "because"))
_CHINESE = lazy_pattern(r"我们|我們|咱|你|您|我")
_CHINESE_NAMES: Final = {"user": "用户", "the user": "用户"}
_SHORTEST_VERB: Final = 2
_CONTRACTED = {"m": "am", "ve": "have", "ll": "will", "d": "would"}
_PARTICIPLE = lazy_pattern(
    r"(?:been|had|done|gone|made|already|[^\W\d_]{3,}ed|written|seen|taken|never|always|just)\b"
)


def words(text: str) -> frozenset[str]:
    """Return the words of a text parted by blanks, as a set to look them up in."""
    return frozenset(text.split())


PLURAL_PERSONS: Final = words(
    "we we're we've we'd we'll our ours us ourselves let's you you're you've you'd you'll your yours yourself"
)
"""Whom these mean cannot be told from one sentence."""

PETS: Final = (
    *(
        "dog",
        "cat",
        "parrot",
        "hamster",
        "rabbit",
        "horse",
        "turtle",
        "tortoise",
        "snake",
        "bird",
        "lizard",
        "gecko",
    ),
    *("ferret", "budgie", "guinea pig", "pup", "kitten"),
)
"""Animals that people have; of several, with an s."""

AFTER_NAME: Final = lazy_pattern(
    r"\s+(?:[a-z]+(?:s|ed)|is|was|and|has|had|who|loves?|likes?|got|just|said|works?|lives?|came|went|will|to|at|in|on"
    r"|for|with)\b|\s*[,.;!()’']|\s*$"
)
"""Goes on behind whole names and nouns; “my horse painting” is of a painting."""

ADVERBS: Final = words(
    "always never also just still already usually often really now currently even only mostly sometimes finally"
    " not ever no longer rarely seldom generally normally both then so kinda soon almost barely hardly"
    " definitely"
)
"""May stand between a subject and its verb; those in -ly besides."""

AUXILIARIES: Final = words(
    "can could will would shall should may might must had did can't cannot couldn't won't wouldn't shouldn't"
    " mustn't didn't hadn't wasn't ought"
)
"""Verbs that stay as they are in the third person."""

PAST_FORMS: Final = words(
    "went got made said took came saw knew thought found gave told felt left kept began wrote met ran built"
    " bought chose broke spent sold taught lost led held heard grew drove drew drank ate caught brought became"
    " fought flew forgot hid paid rode sang sat slept spoke stood stole swam threw understood woke wore won set"
    " put cut hit let read quit hurt cost shut split spread bet fell froze shook rose sent lent bent dealt"
    " dreamt learnt meant lit shot stuck struck swore tore blew withdrew overcame rewrote redid rebuilt reran"
    " retook remade reread resold undid outgrew overslept overheard rethought"
)
"""Irregular past forms, and verbs whose past reads like their present."""

PLAIN_IN_ED: Final = words("need feed breed bleed speed exceed succeed proceed weed seed heed embed shed wed")
"""Verbs that end in “ed” in their plain form."""

BASE_FORMS: Final = {
    form: base
    for base, forms in (
        line.split(None, 1)
        for line in """
        write wrote written
        take took taken
        do did done does
        have had has having
        be been was were
        go went gone goes
        see saw seen
        know knew known
        think thought
        find found
        get got gotten
        give gave given
        tell told
        feel felt
        leave left
        keep kept
        begin began begun
        meet met
        run ran
        build built
        buy bought
        choose chose chosen
        break broke broken
        spend spent
        sell sold
        teach taught
        lose lost
        lead led
        hold held
        hear heard
        grow grew grown
        drive drove driven
        draw drew drawn
        drink drank drunk
        eat ate eaten
        catch caught
        bring brought
        become became
        fight fought
        fly flew flown
        forget forgot forgotten
        pay paid
        ride rode ridden
        sing sang sung
        sleep slept
        speak spoke spoken
        stand stood
        steal stole stolen
        swim swam swum
        throw threw thrown
        understand understood
        wake woke woken
        wear wore worn
        win won
        make made
        send sent
        learn learnt
        say said
        rewrite rewrote rewritten
        rebuild rebuilt
        redo redid redone
        """.strip().splitlines()
    )
    for form in forms.split()
}
"""The plain form of irregular verbs by their past forms and participles."""

COMMON_VERBS: Final = words(
    "use prefer like want need have work love hate think know live plan hope feel do keep run write build get"
    " own manage lead make take drink eat speak teach study enjoy avoid believe expect try help"
)
"""Verbs known for sure in their plain form."""

LIKELY_VERBS: Final = words(
    "stop say check ask call send start leave meet answer correct report show test deploy ship merge review"
    " read talk walk cook play watch hike swim ride bake sing dance draw paint visit pay sleep wake go come give"
    " put set see tell let move learn train volunteer travel relax listen cycle jog garden shop clean fix update"
    " close open log track plan rest look"
)
"""Verbs in their plain form where they stand in a row behind another verb; else they may be nouns."""


def third_person(sentence: str, name: str, *, repeats: bool = False) -> str:
    """Say of somebody what he says of himself: “I prefer tea” of Alex becomes “Alex prefers tea”.

    The first mention becomes the name, later ones “they”, “them” and “their”; quotations, code and links stay as they
    are. A sentence without “I” or “my” stays as it is but for its opening words (“So, …”) and final stop. One with
    “we” or “you”, whose meaning the sentence alone does not tell, and one that no rule fits, is attributed:
    “Alex: we moved to Postgres”.

    Args:
        sentence: One sentence, such as `sentences` gives.
        name: Of the speaker, as it shall stand at the beginning of a sentence.
        repeats: Whether later mentions are the name again instead of “they” and “them”.

    Returns:
        One line without a final stop, its first letter a capital.
    """
    line = _MARKUP.sub("", " ".join(sentence.split()))
    plain = line[_opening(line) :].rstrip(" .。;,:")
    if not plain:
        return line
    if _CHINESE.search(plain):
        name = _CHINESE_NAMES.get(name.casefold(), name)
        others = any(found[0] != "我" for found in _CHINESE.finditer(plain))
        return f"{name}：{plain}" if others else plain.replace("我", name)
    turned = _Turning(name, repeats=repeats).turn(plain)
    if turned is None:
        return f"{name}: {plain}"
    return turned[:1].upper() + turned[1:]


def mid_sentence(name: str) -> str:
    """Return a name as it stands within a sentence: “The user” becomes “the user”."""
    return "the" + name[3:] if name.startswith("The ") else name


def _opening(line: str) -> int:
    found = _OPENING.match(line)
    return found.end() if found else 0


class _Turning:
    """One sentence on its way: whether the name has been said, and which verb waits to agree with it."""

    def __init__(self, name: str, *, repeats: bool) -> None:
        self._name = mid_sentence(name)
        self._repeats = repeats
        self._named = False
        self._governs = False
        self._after_and = False
        self._plain = False
        self._present = False
        self._they = False

    def turn(self, line: str) -> str | None:
        """Return the line about the named person, or None where it cannot be said mechanically."""
        words = list(_words(line))
        said: list[str] = []
        end = 0
        for number, word in enumerate(words):
            following = words[number + 1][0] if number + 1 < len(words) else ""
            before = words[number - 1][0] if number else ""
            between = line[end : word.start()].strip(" ")
            self._after_and = between == "," if between else self._after_and
            new = self._one(word[0], before, following, line[word.end() : word.end() + 2])
            if new is None:
                return None
            said.append(line[end : word.start()] + new)
            end = word.end()
        if self._governs:
            return None
        return "".join(said) + line[end:]

    def _one(self, word: str, before: str, following: str, after: str) -> str | None:
        key = word.casefold().replace("’", "'")
        if self._governs:
            return self._agreeing(word, key)
        they, self._they = self._they, False
        if they and key in _OF_THEY:
            return _OF_THEY[key]
        if key in PLURAL_PERSONS:
            return None
        if (
            key == "i"
            and (word == "I" or (after[:1] == " " and after[1:].isalpha()))
            and before.casefold() not in _LIKE_I
            and after[:1] not in ("", ".", "/", "-")
        ):
            return self._subject()
        if key.startswith("i'") and key[2:] in _CONTRACTED:
            return self._contracted(key[2:], following)
        own = self._own(key)
        return own if own is not None else self._coordinated(word, key, before.casefold())

    def _subject(self) -> str:
        if self._named and not self._repeats:
            self._they = self._plain = True
            self._after_and = False
            return "they"
        self._named = self._governs = True
        self._plain = False
        return self._name

    def _contracted(self, tail: str, following: str) -> str:
        verb = "had" if tail == "d" and _PARTICIPLE.match(following) else _CONTRACTED[tail]
        if self._named and not self._repeats:
            self._plain = True
            return "they " + ("are" if verb == "am" else verb)
        self._named = True
        self._plain = verb in ("will", "would")
        return f"{self._name} {_BE.get(verb, verb)}"

    def _own(self, key: str) -> str | None:
        if key not in ("my", "me", "mine", "myself"):
            return None
        if key == "myself":
            return "themselves"
        if not self._named:
            self._named = True
            return {"my": f"{self._name}’s", "mine": f"{self._name}’s"}.get(key, self._name)
        return {"my": "their", "mine": "theirs"}.get(key, self._name if self._repeats else "them")

    def _agreeing(self, word: str, key: str) -> str | None:
        if key in ADVERBS or (
            key.endswith("ly") and len(key) > 4 and key not in ("apply", "rely", "supply", "reply")
        ):
            return word
        self._governs = False
        if key in ("ve", "m", "d", "ll") or len(key) < _SHORTEST_VERB:
            return None
        if key in ("and", "or", "who", "but", "that", "with", "am"):
            return "is" if key == "am" else None
        if key in _BE:
            return _BE[key]
        if key in AUXILIARIES or key in PAST_FORMS or (key.endswith("ed") and key not in PLAIN_IN_ED):
            self._plain = True
            return word
        self._present = True
        return _with_s(word)

    def _coordinated(self, word: str, key: str, before: str) -> str:
        """Let “and prefer” follow “Alex uses”; not “and prefer” in “Alex wants to use and prefer”."""
        # Behind another subject, contracted or not, “and get” is no longer what the named person does.
        if key.partition("'")[0] in _OTHER_SUBJECTS or key in AUXILIARIES:
            self._plain = True
        joined, self._after_and = (
            self._after_and,
            key in ("and", "but") or (self._after_and and key in ADVERBS),
        )
        if not joined or not self._named or self._plain:
            return word
        if key == "like" and not (before in ("and", "but") or before in ADVERBS):
            # After a bare comma it is the preposition: “has trouble with mornings, like missing the bus”.
            return word
        if key in COMMON_VERBS or (self._present and key in LIKELY_VERBS):
            return _with_s(word)
        return word


def _words(line: str) -> Iterator[re.Match[str]]:
    """Yield the words outside of quotations, code and links."""
    at = 0
    for kept in _KEPT.finditer(line):
        yield from _WORD.finditer(line, at, kept.start())
        at = kept.end()
    yield from _WORD.finditer(line, at)


def _with_s(verb: str) -> str:
    key = verb.casefold()
    if key in _IRREGULAR:
        return _IRREGULAR[key]
    if key.endswith(("s", "sh", "ch", "x", "z", "o")):
        return verb + "es"
    if key.endswith("y") and key[-2:-1] not in "aeiou":
        return verb[:-1] + "ies"
    return verb + "s"
