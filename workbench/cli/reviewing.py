"""The command group by which a person decides on a reflection, item by item."""

from __future__ import annotations

from workbench.cli import review_applying, review_deciding, review_editing, review_looking
from workbench.cli.command import group

review_command = group(
    "review",
    default="list",
    help="A reflection only proposes; you decide, item by item, here, in the bench, or by ticking the boxes of "
    "memory/meta/pending-reflection.md in any editor. ID is r-012.3 or just 3; where several are taken, also 1-4, "
    "all, or a word of a section or kind such as “archival”, which means what is still undecided.",
    answers="What does the agent want to learn, and may it?",
    examples=("workbench review", "workbench review approve 1-4", "workbench review apply"),
)
for _command in (
    review_looking.list_items,
    review_looking.show,
    review_deciding.approve,
    review_deciding.reject,
    review_deciding.defer,
    review_deciding.undecide,
    review_editing.edit,
    review_editing.answer,
    review_editing.resolve,
    review_applying.apply_decisions,
    review_looking.rejected,
):
    review_command.add_command(_command)
