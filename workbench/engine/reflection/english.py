"""Classes of English words that telling who says what about whom turns on."""

from __future__ import annotations

from typing import Final


def words(text: str) -> frozenset[str]:
    """Return the words of a text parted by blanks, as a set to look them up in."""
    return frozenset(text.split())


PLURAL_PERSONS: Final = words(
    "we we're we've we'd we'll our ours us ourselves let's you you're you've you'd you'll your yours yourself"
)
"""Whom these mean cannot be told from one sentence."""

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
