"""Finds the statements in passages that may be worth recording, each with whom it is about and its very words.

A sentence is cut down to the one thing it says: no greeting, no address, no aside. Chinese is read by `chinese`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from workbench.engine.language.chinese import is_chinese
from workbench.engine.language.denials import is_denied
from workbench.engine.language.introductions import introduced
from workbench.engine.language.kin import ONES_OWN
from workbench.engine.language.sentences import sentences
from workbench.engine.patterns import lazy_pattern
from workbench.engine.reflection.extraction.chinese import said_in_chinese, told_in_chinese
from workbench.engine.reflection.extraction.lasting import kind_of, since_of, standing_of
from workbench.engine.reflection.extraction.retelling import own_words, tell
from workbench.engine.reflection.extraction.worth import (
    LEAST,
    features_of,
    is_elliptic,
    is_ones_own,
    terms_of,
    worth_of,
)
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from workbench.engine.reflection.extraction.naming import Voice
    from workbench.engine.reflection.model import Passage

_SHORTEST: Final = 12
_LONGEST: Final = 320
# That goes into Identity, and “Ana’s name is Ana” tells nothing.
_NAMES_ONESELF: Final = lazy_pattern(r"my name\b", re.IGNORECASE)
_PRESENTS: Final = lazy_pattern(
    r"(?:(?:so|well|hi|hello|hey),? )?I['’]m (?P<name>[^\W\d_a-z][\w’'-]+), (?=I\b)"
)
_DATED: Final = 0.8
# Said to one's agent it settles something: “let's go with Postgres”. What is only pointed at tells nothing: “the other
# one”, “option B”.
_SETTLES = lazy_pattern(
    r"(?:let['’]s|let us) (?:just |then )?"
    r"(?=(?:go with|stick (?:with|to)|stay with|settle on|switch (?:over )?to|use)\s"
    r"(?!(?:it|this|that|these|those|them|both|either|neither|what|whatever|your|option|variant|number"
    r"|(?:the|an?) (?:first|second|third|last|other|former|latter|same|different|one))\b))",
    re.IGNORECASE,
)
_WE = lazy_pattern(r"\b(?:we|us|our)\b", re.IGNORECASE)
_THIRD = lazy_pattern(
    r"(?:(?P<own>His|Her)\b(?=\s+\w)|(?:He|She)\b(?P<short>['’](?:s|d|ll))?)", re.IGNORECASE
)
_NAMED = lazy_pattern(r"(?P<name>[A-Z][\w’-]*[a-zà-ÿ](?: [A-Z][\w-]+)?)(?:['’]s)?\s+[a-z]")
_KIN = lazy_pattern(
    rf"\bmy (?:(?:older|younger|little|big|late|best|old) )?(?:{ONES_OWN}|dog|puppy|cat|kitten)\b",
    re.IGNORECASE,
)
_ASIDE = lazy_pattern(r"\[(?:image|photo|video|audio|file|gif|sticker)\b[^\]\n]{0,400}\]", re.IGNORECASE)
_BORDER = lazy_pattern(
    r"""\s+[-–—]{1,3}\s+|(?<=[a-z])[-–]{1,2}\s+|—|;\s+|\s*\.\.\.+\s+
      | ,?\s+(?:and|but|so|though|because)\s+(?=(?:can|could|would|do|will)\ you\b|what\b|how\b)
      | ,\s+(?=(?:how|what|why|which|where|when)\ (?:can|could|do|does|should|would|is|are|if)\b|(?:can
          |could|would|do|will)\ you\b|any\ (?:ideas?|tips|advice)\b|what\ (?:do|about)\b)
      | ,?\s+(?:and|but|so)\s+(?=(?:I|we)(?:'|’|\s))
      | ,\s+(?=(?:is|are|was|does|do|did|can|could|should|would|will|has|have|am)\ (?:that|this|it|there|you|I|we|he
          |she|they)\b)
      | ,?\s+so\s+(?=(?:please|careful|be|don['’]t|(?:just\ )?give|no\ more)\b)
      | ,?\s+(?:so|and)\s+(?=please\b|want(?:ed)?\ to\ (?:make\ sure|ensure|know|understand)\b)
      | ,\s+(?=(?:my|our)\ (?:\w+\ ){1,3}?(?:is|was|has|had|got|broke|passed|died|just|are|were|have|went
          |moved|started)\b)
      | ,\s+(?=(?:I|we)(?:'|’|\s)(?!know\b|think\b|guess\b|mean\b))
      | (?<=[\w`'")])[,:]?\s+(?:(?:and|so|but)\s+)?(?=here(?:(?:'|’)s|\ is|\ are)\b|check\ (?:it|this)\ out)
    """,
    re.VERBOSE,
)
# What stands before decides what it means: “if we move, I quit”.
_SUBORDINATE = lazy_pattern(
    r"(?:if|unless|when|whenever|while|since|because|although|though|once|after|before|until|as"
    r"|even)\b",
    re.IGNORECASE,
)
_LEANS = lazy_pattern(
    r"(?:if|unless|when|whenever|while|since|because|although|though|once|after|before|until|as|in|on|by|at"
    r"|last|this|next|every|each|over|during|for|ever|even|two|three|a|one|the|yesterday|today|recently"
    r"|growing|back|first|so)\b",
    re.IGNORECASE,
)
_OPENINGS = lazy_pattern(
    r"""(?:
        (?:yeah|yep|yes|yup|ye|no|nope|nah|wow|who+a+h?|woah|oh|o+h|ah+|a+w+|hey|hi|hello|hiya
            |thanks(?:\ (?:a\ lot|so\ much
          |a\ bunch|a\ ton))?|thank\ you(?:\ so\ much)?|thx|sure(?:\ thing)?|definitely|absolutely|totally
          |exactly|right
          |ok(?:ay)?|well|actually|btw|by\ the\ way|anyways?|oh\ well|haha+|lol|omg|unfortunately|luckily
          |fortunately
          |honestly|tbh|to\ be\ honest|of\ course|you\ know(?:\ what)?|guess\ what|in\ fact|besides
          |additionally|sadly
          |surprisingly|hmm+|um+|uh+|congrats|agreed|true|good\ (?:morning|evening|afternoon)|as\ for\ me
          |personally
          |in\ the\ meantime|meanwhile|basically|seriously|frankly|great(?:\ question)?|cool|awesome|nice
          |amazing|perfect
          |sounds\ (?:good|great)|got\ it|long\ time\ no\ (?:see|talk|chat)|first\ of\ all|on\ (?:another
          |a\ different)\ note
          |recently|lately|currently|nowadays|these\ days|right\ now|at\ the\ moment|so\ far|yay|woo?hoo+
          |phew|gosh|man|dude)
          (?:\s*[,!.:–—-]+\s*|\s+(?=(?:I|we|my|our)\b)|\s*$)
      | (?:and|but|also|plus|so|then|still|yet|or|because|though)\b,?\s+(?!(?:on|far)\b)
      | (?:since|when|after)\ (?:we|I|you)(?:'ve|’ve|\ have)?(?:\ last)?\ (?:chatted|talked|spoke|met
          |saw\ each\ other)
          (?:\ to\ (?:each\ other|you))?(?:\ last(?:\ time)?)?,?\s+
      | since\ (?:our|my|the)\ last\ (?:chat|talk|conversation|catch[ -]?up),?\s+
      | (?:so\ )?speaking\ of\ [^,]{2,40},\s+
      | (?:my|our|other|the)\ (?:\w+\ )?news\s*[:–—-]+\s*
      | (?:some\ |the\ )?(?:great|good|big|bad|exciting|sad|fun|amazing)\ news\b\s*[,!:–—-]*\s*
      | (?:fun\ fact|fyi|update|quick\ update|heads\ up|remember|note|please\ note|remember\ that
          |note\ that)\s*[,:–—-]+\s*
    )""",
    re.VERBOSE | re.IGNORECASE,
)
_ANNOUNCED = lazy_pattern(
    r"""(?:I(?:\ |'|’)?(?:m|am)?\ ?(?:just\ |also\ )?)?(?:
        (?:wanted|want|have|had|need|going|gonna|wish|decided)(?:\ to)?\ (?:let\ you\ know|tell\ you
            |share(?:\ with\ you)?|mention
          |update\ you|give\ you\ (?:a|the)\ (?:heads[\ -]?up|update)(?:\ on\ [^,:–—-]{2,60})?)(?:\ that
          |\ about\ it)?
      | (?:so\ |really\ |super\ |very\ )?(?:excited|happy|thrilled|stoked|proud|glad|pleased)\ to\ (?:tell
          |share|say|announce|report)
          (?:\ you|\ with\ you)?(?:\ that)?
      | forgot\ to\ (?:mention|tell\ you|say)(?:\ that)?
      | (?:have|'ve|’ve|'ve\ got|got|\ have\ got)\ (?:some\ |a\ )?(?:\w+\ )?(?:news|update)(?:\ to\ share)?
      | (?:must|have\ to|gotta|should|can|will|would|'ll|'d)\ (?:say|admit|mention|tell\ you|confess)(?:\ that)?
      | let\ me\ tell\ you(?:\ that)?|did\ I\ (?:tell\ you|mention)(?:\ that)?|you\ won't\ believe\ (?:it|this)
      | (?:not\ sure\ if\ I(?:'ve|’ve)?|as\ I|like\ I)\ (?:said|mentioned)(?:\ before|\ earlier)?
      | (?:the\ )?thing\ is(?:\ that)?|(?:I\ )?remember\ that|turns\ out(?:\ that)?|it\ turns\ out(?:\ that)?
    )\s*[,:–—-]*\s*""",
    re.VERBOSE | re.IGNORECASE,
)
_VOCATIVE = lazy_pattern(r"(?P<name>[A-Z][\w’'-]{1,20})\s*[,!–-]+\s*(?=\S)")
_VOCATIVE_END = lazy_pattern(r",\s*(?P<name>[A-Z][\w’'-]{1,20})(?=\s*[.!,]*\s*$)")
_TAIL = lazy_pattern(
    r"""(?:
        ,?\s+(?:and|so)\s+(?:it|that|this)(?:'s|’s|\ is|\ was|\ has|\ felt|\ feels|\ really|\ made|\ makes
            |\ gives|\ gave|\ helps|\ looks|\ looked|\ keeps|\ kept
          |\ turned)\b.*
      | ,\s+(?:it|that|this|which)(?:'s|’s|\ is|\ was|\ has|\ felt|\ feels|\ really|\ made|\ makes|\ gives
          |\ gave|\ helps|\ looks|\ looked|\ keeps|\ kept|\ turned)\b.*
      | ,\s+(?:you\ know|right|huh|haha+|lol|though|too|as\ well|actually|of\ course|for\ sure|btw
          |by\ the\ way|honestly
          |so\ (?:exciting|cool|fun)|wow)\b\s*[.!]*
      | ,?\s+(?:tho,?\ )?(?:why|how\ come|agree|ok(?:ay)?|tho)\s*[.!]*
      | \s+since\ (?:(?:our|my|the)\ last\ (?:chat|talk|conversation)|(?:we|I)\ last\ (?:chatted|talked|spoke))
      | \s+(?:too|as\ well|though|haha+|lol|btw|by\ the\ way|so\ far|you\ know|for\ sure)\s*[.!]*
      | \s*[:;]-?[)(DP]+ | \s*[\U0001F300-\U0001FAFF\u2600-\u27BF\uFE0F]+
    )\s*[.!]*$""",
    re.VERBOSE | re.IGNORECASE,
)
# What hangs on a main clause that was cut off: “…, and with my flat secured, how do I pack?”.
_HANGING = lazy_pattern(
    r",?\s+(?:and|but|so)\s+(?:(?:with|as\s+of|for|in|on|at|by|despite|given|considering)\b(?:[^,;]|,(?=\s\d))*"
    r"|(?:since|because|as|if|when|while|although|though|even\s+though|after|before|once)\b(?:(?!\b(?:I|we|he|she|they|it)\b)[^,;])*"
    r"(?:\b(?:I|we|he|she|they|it)\b(?:(?!\b(?:I|we|he|she|they|it)\b)[^,;])*)?)$",
    re.IGNORECASE,
)
_TAKEN_BACK = lazy_pattern(r"\b(?:but|cancel\w*|however)\b", re.IGNORECASE)
# What follows is shown to be worked on: a draft, somebody’s mail. Its “I” need not be the speaker.
_SHOWN = lazy_pattern(
    r"""\b(?:here(?:['’]s|\ is)|below\ is|this\ is)\ (?:my|the|a|an)\ (?:[\w-]+\ ){0,3}?(?:draft|essay
          |e-?mail|letter|resume|cv
          |text|story|poem|post|paragraph|message|speech|article|chapter|script|transcript|review|bio
          |abstract)\b
      | \b(?:rewrite|proofread|translate|paraphrase|summari[sz]e|edit|polish|improve|shorten
          |correct)\ (?:this|the\ following|my
          |the\ text)\b[^\n]{0,80}(?::|\n)
      | ^[ \t]*dear\ [\w .]{1,40},[ \t]*$
    """,
    re.VERBOSE | re.IGNORECASE | re.MULTILINE,
)
_SHORTEST_PIECE: Final = 8
_FEWEST_WORDS: Final = 3


@dataclass(frozen=True, slots=True)
class Candidate:
    """A statement that may become a fact.

    Args:
        at: Index of its passage.
        entity: Whom or what it is about, `type--slug`.
        label: That entity's label.
        text: A sentence that can be read alone.
        quote: The words, as they stand in the passage.
        kind: family, work, plan …
        value: Its worth.
        terms: Its telling words, stemmed.
        since: ISO date from which it holds, or on which it was; empty where nothing says so.
        dated: Whether its words say when.
        explicit: Why it is certain to be meant for memory: “stated as a decision”; empty for conversation.
        subject: Words for the thing that it states a number, a day or a name of; empty for other statements.
        features: What speaks for and against keeping it, by name; none where it was meant for memory.
    """

    at: int
    entity: str
    label: str
    text: str
    quote: str
    kind: str
    value: float
    terms: frozenset[str]
    since: str
    dated: bool = False
    explicit: str = ""
    subject: str = ""
    features: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Acquaintance:
    """Somebody whom statements may be about besides their speaker."""

    entity: str
    label: str


def candidates(
    at: int,
    passage: Passage,
    voice: Voice,
    names: frozenset[str],
    acquainted: Callable[[str], Acquaintance | None],
) -> Iterator[Candidate]:
    """Yield what the speaker of a passage says of himself and those around him that is worth recording.

    “She” and “he” are read as the one relative that the sentence before names; else they say nothing here.

    Args:
        at: Its index.
        passage: Of a person.
        voice: Who speaks.
        names: Of everybody who speaks in the log, folded.
        acquainted: Finds a known or related person by the name that a sentence begins with.
    """
    said = passage.moment.date() if passage.moment else None
    topic = ""
    for sentence in sentences(passage.text):
        if is_chinese(sentence.text):
            yield from _chinese(at, passage, voice, sentence.text)
            continue
        for start, end in clauses(sentence.text, names):
            piece = sentence.text[start:end]
            if not _SHORTEST <= len(piece) <= _LONGEST:
                continue
            if _NAMES_ONESELF.match(piece) and introduced(piece).name:
                continue
            presents = _PRESENTS.match(piece)
            if presents and introduced(piece).name == presents["name"]:
                piece = piece[presents.end() :]
            spoken = piece
            settles = _SETTLES.match(piece) if voice.is_owner else None
            if settles:
                spoken = f"I decided to {piece[settles.end() :]}"
            pronoun = _THIRD.match(piece)
            if pronoun and topic:
                spoken = (
                    f"{topic}{'’s' if pronoun['own'] else ''}{pronoun['short'] or ''}{piece[pronoun.end() :]}"
                )
            own = own_words(spoken, elliptic=is_elliptic(piece))
            about = Acquaintance(voice.entity, voice.label)
            if own and not is_ones_own(own):
                other = _subject(own, acquainted)
                about, own = (other, own) if other is not None else (about, "")
            if not own:
                continue
            joint = own != spoken and _WE.search(spoken) is not None
            worth = worth_of(own, joint=joint, known=about.entity != voice.entity)
            if worth.value < LEAST - _DATED:
                continue
            told = tell(own, voice.name, said)
            value = worth.value + _DATED * told.dated
            if told.text and value >= LEAST:
                standing = standing_of(own, worth.kind)
                features = features_of(own, worth.kind, joint=joint, dated=told.dated, asks=voice.is_owner)
                yield Candidate(
                    at,
                    about.entity,
                    about.label,
                    told.text,
                    piece,
                    kind_of(worth.kind, standing, own),
                    value,
                    worth.terms,
                    since_of(told.text, standing, told.day, passage.day),
                    told.dated,
                    # A note was written to be remembered; only talk is weighed.
                    features=(*features, standing) if passage.speaker else (),
                )
        topic = _topic(sentence.text, topic)


def _chinese(at: int, passage: Passage, voice: Voice, sentence: str) -> Iterator[Candidate]:
    said = passage.moment.date() if passage.moment else None
    # A line that nobody speaks is somebody's note on the person, unless it says “I”.
    for one in said_in_chinese(sentence, of_oneself=bool(passage.speaker)):
        quote = sentence[one.start : one.end]
        told = told_in_chinese(quote, one, voice.name, said)
        yield Candidate(
            at,
            voice.entity,
            voice.label,
            told.text,
            quote,
            one.kind,
            one.value,
            terms_of(quote),
            told.day or passage.day,
            told.dated,
        )


def _subject(own: str, acquainted: Callable[[str], Acquaintance | None]) -> Acquaintance | None:
    found = _NAMED.match(own)
    return acquainted(found["name"]) if found else None


def _topic(sentence: str, before: str) -> str:
    """Return the one relative that a sentence is about, as its speaker calls him; what it was where that goes on."""
    kin = {found.group().casefold() for found in _KIN.finditer(sentence)}
    if len(kin) == 1:
        return next(iter(kin))
    return before if not kin and _THIRD.match(sentence) else ""


def own_part(text: str) -> str:
    """Return a message up to where it shows a text to be worked on, which its speaker need not mean."""
    shown = _SHOWN.search(text)
    return text[: shown.start()] if shown else text


def clauses(sentence: str, names: frozenset[str]) -> Iterator[tuple[int, int]]:
    """Yield what a sentence says piece by piece, as places of its first character and behind its last.

    Args:
        sentence: As it was said.
        names: Of those who take part, folded: whom it may address.
    """
    for start, end in _pieces(sentence):
        begin = _opened(sentence, start, end, names)
        stop = _closed(sentence, begin, end, names)
        if stop - begin >= _SHORTEST_PIECE:
            yield begin, stop


def _pieces(sentence: str) -> Iterator[tuple[int, int]]:
    """Split at dashes and where another subject begins; images and other asides end a piece as well."""
    start = 0
    borders = sorted(
        [*_BORDER.finditer(sentence), *_ASIDE.finditer(sentence)], key=lambda border: border.start()
    )
    for border in borders:
        if border.start() < start:
            continue
        before = sentence[start : border.start()].lstrip()
        joint = sentence[border.start() : border.end()].strip(" ,").casefold()
        leans = _LEANS if joint == "" else _SUBORDINATE
        if joint in ("", "and", "but", "so") and (leans.match(before) or len(before.split()) < _FEWEST_WORDS):
            continue
        if (
            sentence[border.end() : border.end() + 7]
            .casefold()
            .startswith(("but it", "until", "not ", "except"))
        ):
            continue
        yield start, border.start()
        start = border.end()
    yield start, len(sentence)


def _opened(sentence: str, start: int, end: int, names: frozenset[str]) -> int:
    """Return where a piece begins to say something, behind interjections, addresses and announcements."""
    while start < end:
        while start < end and not sentence[start].isalnum() and sentence[start] not in "\"“'‘[`":
            start += 1
        found = _OPENINGS.match(sentence, start, end) or _ANNOUNCED.match(sentence, start, end)
        if found is None:
            named = _VOCATIVE.match(sentence, start, end)
            found = (
                named
                if named and named["name"].casefold() in names
                else _greeted(sentence, start, end, names)
            )
        if found is None or found.end() == start:
            return start
        start = found.end()
    return end


def _greeted(sentence: str, start: int, end: int, names: frozenset[str]) -> re.Match[str] | None:
    """Match “Hey Maria, ” and “Thanks John ”, whose interjection no comma follows."""
    found = re.compile(
        r"(?:hey|hi|hello|yeah|yes|yep|yup|sure|thanks|thank you|wow|oh|aw+|definitely|of course|ok(?:ay)?"
        r"|well|no)"
        r"(?:\s+there)?\s+(?P<name>[A-Z][\w’'-]{1,20})\s*[,!.–-]*\s*",
        re.IGNORECASE,
    ).match(sentence, start, end)
    return found if found and found["name"].casefold() in names else None


def _closed(sentence: str, start: int, end: int, names: frozenset[str]) -> int:
    """Return where a piece has said it, before what only comments on it."""
    while True:
        piece = sentence[start:end].rstrip(" .!,;:…")
        end = start + len(piece)
        named = _VOCATIVE_END.search(piece)
        if named and named["name"].casefold() in names:
            end = start + named.start()
            continue
        hanging = _HANGING.search(piece)
        if hanging is not None and hanging.start() >= _SHORTEST:
            end = start + hanging.start()
            continue
        tail = _TAIL.search(piece)
        if (
            tail is None
            or tail.start() < _SHORTEST_PIECE
            or _TAKEN_BACK.search(tail.group())
            or is_denied(tail.group())
        ):
            return end
        end = start + tail.start()
