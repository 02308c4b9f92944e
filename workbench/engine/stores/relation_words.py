"""A relation as a person writes it, `uses: [[tool--git]]`, checked against what there is."""

from __future__ import annotations

import re

from workbench.engine.documents.entity import EntityFile
from workbench.engine.documents.relations import canonical_relation
from workbench.engine.errors import InvalidInput, NotFound
from workbench.engine.history.plan import FileView
from workbench.engine.history.views import stem_of
from workbench.engine.identifiers import link_to, linked_entity
from workbench.engine.settings.sections import Settings
from workbench.engine.stores.entities import entity_path
from workbench.engine.stores.semantic import checked_relation, read_vocabulary
from workbench.engine.stores.wording import clip

_LINK = r"\[\[([^\[\]|#]+)\]\]"
_RELATION = re.compile(rf"([^:：\[\]]{{1,80}}?)\s*[:：]\s*({_LINK}(?:\s*[,，、]\s*{_LINK})*)")


def checked_words(view: FileView, settings: Settings, file: EntityFile, block: str, text: str) -> str:
    """Return a relation's words as its line is to say them.

    Args:
        view: The files.
        settings: Give the workspace's own relations.
        file: Of the entity that it starts from.
        block: Block id of its line.
        text: As a person wrote it; `[[…]]` names entities by id, several parted by commas.

    Raises:
        InvalidInput: It is none, leads to where it starts, stands there already, or the vocabulary lacks it.
        NotFound: An entity that it leads to does not exist.
    """
    found = _RELATION.fullmatch(text)
    if found is None:
        raise InvalidInput(
            f"“{clip(text)}” is no relation.",
            where=file.path,
            remedy="Write it as uses: [[tool--git]], with the id of an entity in the brackets.",
        )
    name = checked_relation(read_vocabulary(view, settings), found[1])
    targets = [linked_entity(target) for target in re.findall(_LINK, found[2])]
    for target in targets:
        if target == file.id:
            raise InvalidInput(
                f"{file.id} cannot be related to itself.",
                where=file.path,
                remedy="Name two different entities.",
            )
        if view.read(entity_path(target, view)) is None:
            raise NotFound(
                f"There is no entity {clip(target)}.",
                where=entity_path(target, view),
                remedy="Make it first with: workbench graph add",
            )
        if any(
            target in other.targets and canonical_relation(other.name) == name and other.block_id != block
            for other in file.relations
        ):
            raise InvalidInput(
                f"{file.id} has the relation {name} to {target} already.",
                where=file.path,
                remedy="Retire one of the two.",
            )
    links = (link_to(target, stem_of(entity_path(target, view))) for target in targets)
    return f"{name}: {', '.join(f'[[{link}]]' for link in links)}"
