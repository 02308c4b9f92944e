"""Decay: how relevant each memory is, how that sinks with time, and what keeps it up."""

from workbench.engine.decay.census import Census, FactColumns, amended, census_of, take_census
from workbench.engine.decay.course import course, terms
from workbench.engine.decay.falling import Passing, falls, passings
from workbench.engine.decay.folding import Folded, Lookup, fold_is_due, pending
from workbench.engine.decay.formula import (
    Thresholds,
    days_between,
    days_until,
    displayed,
    half_life,
    score,
    status_of,
)
from workbench.engine.decay.journal import Access, AccessJournal, Page
from workbench.engine.decay.pins import (
    plan_archive,
    plan_drop,
    plan_pin,
    plan_reinforce,
    plan_restore,
    plan_unpin,
)
from workbench.engine.decay.records import (
    SCORED_STORES,
    Accesses,
    DecayRecord,
    MemoryFacts,
    Reckoning,
    assess,
    base_of,
    compose,
    weight_of,
)
from workbench.engine.decay.scores_file import read_scores
from workbench.engine.decay.statuses import Transition
from workbench.engine.decay.transitions import check_is_due, mark_checked, plan_transitions
from workbench.engine.decay.views import assessed, at_another_moment, graded, reckoning_with, view

__all__ = [
    "SCORED_STORES",
    "Access",
    "AccessJournal",
    "Accesses",
    "Census",
    "DecayRecord",
    "FactColumns",
    "Folded",
    "Lookup",
    "MemoryFacts",
    "Page",
    "Passing",
    "Reckoning",
    "Thresholds",
    "Transition",
    "amended",
    "assess",
    "assessed",
    "at_another_moment",
    "base_of",
    "census_of",
    "check_is_due",
    "compose",
    "course",
    "days_between",
    "days_until",
    "displayed",
    "falls",
    "fold_is_due",
    "graded",
    "half_life",
    "mark_checked",
    "passings",
    "pending",
    "plan_archive",
    "plan_drop",
    "plan_pin",
    "plan_reinforce",
    "plan_restore",
    "plan_transitions",
    "plan_unpin",
    "read_scores",
    "reckoning_with",
    "score",
    "status_of",
    "take_census",
    "terms",
    "view",
    "weight_of",
]
