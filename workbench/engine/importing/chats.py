"""What ChatGPT and Claude give when one asks for one's data: conversations.json, in a zip or by itself."""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from workbench.engine.errors import DocumentError, WorkbenchError
from workbench.engine.importing.conversations import episodes_of
from workbench.engine.importing.json_stream import Readable, elements
from workbench.engine.importing.opening import open_file, shown
from workbench.engine.importing.pieces import Item, Place, Reading, Said, Skipped
from workbench.engine.importing.words import moment_of, slug

MEMBER = re.compile(r"conversations(?:-\d+)?\.json")
_MOST_MEMBERS = 100_000
_MOST_BYTES = 8 << 30
# Text is packed ten to thirty times; a thousand times is a bomb.
_MOST_RATIO = 200
_SMALL = 64 << 20
_LONGEST_TITLE = 120
_SPEAKERS = {"user": "User", "human": "User", "assistant": "Assistant"}


@dataclass(frozen=True)
class ChatExport:
    """The conversations of an account.

    Args:
        place: A zip, the folder it was unpacked into, or conversations.json.
        form: `chatgpt` or `claude`.
    """

    place: Path
    form: str

    @property
    def name(self) -> str:
        return slug(self.form)

    def read(self, reading: Reading) -> Iterator[Item]:
        try:
            with opened(self.place) as members:
                reading.total = sum(size for _, size, _ in members)
                for name, _, source in members:
                    yield from self._conversations(source, shown(name), reading)
        except WorkbenchError as error:
            yield Skipped(error.where or shown(self.place.name), error.told)
        except (
            zipfile.BadZipFile,
            EOFError,
            NotImplementedError,
            RuntimeError,
            ValueError,
            zlib.error,
        ) as error:
            yield Skipped(shown(self.place.name), f"The archive is damaged: {str(error)[:120]}.")

    def _conversations(self, source: Readable, where: str, reading: Reading) -> Iterator[Item]:
        def tell(count: int) -> None:
            reading.done += count

        read = _of_chatgpt if self.form == "chatgpt" else _of_claude
        for number, said in enumerate(elements(source, where, tell=tell), 1):
            part = _name_of(said) if isinstance(said, Mapping) else ""
            place = Place(where, part=part or f"conversation-{number}")
            if not isinstance(said, Mapping):
                yield Skipped(str(place), "This is no conversation.")
                continue
            turns = list(read(said))
            if not turns:
                yield Skipped(str(place), "Nobody says anything in it.")
                continue
            title = _title(said)
            yield from episodes_of(turns, place, reading.zone, title=title)


@contextmanager
def opened(place: Path) -> Iterator[list[tuple[str, int, Readable]]]:
    """Open the files of conversations: their names, sizes in bytes, and what they are read from.

    Raises:
        DocumentError: There are none, or the archive is a trap.
    """
    from contextlib import ExitStack

    with ExitStack() as stack:
        if place.is_dir():
            found = sorted(each for each in place.iterdir() if MEMBER.fullmatch(each.name))
            plain = [each for each in found if each.is_file() and not each.is_symlink()]
            yield [(each.name, each.stat().st_size, stack.enter_context(open_file(each))) for each in plain]
            return
        file = stack.enter_context(open_file(place))
        if not zipfile.is_zipfile(file):
            file.seek(0)
            yield [(place.name, place.stat().st_size, file)]
            return
        file.seek(0)
        archive = stack.enter_context(zipfile.ZipFile(file))
        members = members_of(archive, place)
        # Nothing is unpacked onto the disk, so that names lead nowhere.
        yield [(each.filename, each.file_size, stack.enter_context(archive.open(each))) for each in members]


def members_of(archive: zipfile.ZipFile, place: Path) -> list[zipfile.ZipInfo]:
    """Return the files of conversations in an archive.

    Raises:
        DocumentError: There are none, or the archive is a trap.
    """
    every = archive.infolist()
    where = shown(place.name)
    if len(every) > _MOST_MEMBERS:
        raise DocumentError(f"The archive holds more than {_MOST_MEMBERS:,} files.", where=where)
    found = {each.filename: each for each in every if MEMBER.fullmatch(PurePosixPath(each.filename).name)}
    for member in found.values():
        ratio = member.file_size / max(1, member.compress_size)
        if member.file_size > _MOST_BYTES or (member.file_size > _SMALL and ratio > _MOST_RATIO):
            raise DocumentError(
                f"{shown(member.filename)} would unpack to {member.file_size >> 20:,} MB, {ratio:,.0f} times its size.",
                where=where,
                remedy="No export of conversations does; unpack it yourself if you trust it.",
            )
        if member.flag_bits & 1:
            raise DocumentError(
                "The archive is locked with a password.", where=where, remedy="Unpack it first."
            )
    return [found[name] for name in sorted(found)]


def form_of(place: Path) -> str | None:
    """Return `chatgpt` or `claude`; None where it is no such export."""
    try:
        with opened(place) as members:
            for _, _, source in members[:1]:
                beginning = source.read(1 << 18).decode("utf-8", "replace")
                if '"mapping"' in beginning:
                    return "chatgpt"
                if '"chat_messages"' in beginning:
                    return "claude"
                if re.match(r"\ufeff?\s*\[\s*\]", beginning):
                    return "chatgpt"
    except (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError, zlib.error):
        return None
    return None


def _of_chatgpt(said: Mapping[str, Any]) -> Iterator[Said]:
    mapping = said.get("mapping")
    if not isinstance(mapping, Mapping):
        return
    node, seen, path = said.get("current_node"), set(), []
    if not isinstance(node, str) or node not in mapping:
        node = _last_node(mapping)
    while isinstance(node, str) and node in mapping and node not in seen:
        seen.add(node)
        inner = mapping[node]
        if not isinstance(inner, Mapping):
            break
        path.append(inner.get("message"))
        node = inner.get("parent")
    for message in reversed(path):
        turn = _turn_of_chatgpt(message)
        if turn is not None:
            yield turn


def _last_node(mapping: Mapping[str, Any]) -> str | None:
    """Return the latest node that nothing follows."""
    latest: tuple[float, str] | None = None
    for name, node in mapping.items():
        if not isinstance(node, Mapping) or node.get("children"):
            continue
        message = node.get("message")
        moment = moment_of(message.get("create_time")) if isinstance(message, Mapping) else None
        at = (moment.timestamp() if moment else 0.0, name)
        latest = at if latest is None else max(latest, at)
    return latest[1] if latest else None


def _turn_of_chatgpt(message: object) -> Said | None:
    if not isinstance(message, Mapping):
        return None
    author, content, about = message.get("author"), message.get("content"), message.get("metadata")
    if not isinstance(author, Mapping) or not isinstance(content, Mapping):
        return None
    if isinstance(about, Mapping) and about.get("is_visually_hidden_from_conversation") is True:
        return None
    if content.get("content_type") not in ("text", "multimodal_text", None):
        return None
    if message.get("recipient", "all") not in ("all", None):
        return None
    parts = content.get("parts")
    texts = [part for part in parts if isinstance(part, str)] if isinstance(parts, list) else []
    return _said(author.get("role"), "\n".join(texts), message.get("create_time"))


def _of_claude(said: Mapping[str, Any]) -> Iterator[Said]:
    messages = said.get("chat_messages")
    for message in messages if isinstance(messages, list) else ():
        if not isinstance(message, Mapping):
            continue
        content = message.get("content")
        parts = content if isinstance(content, list) else []
        texts = [
            part["text"]
            for part in parts
            if isinstance(part, Mapping) and part.get("type") == "text" and isinstance(part.get("text"), str)
        ]
        text = "\n".join(texts) or message.get("text")
        turn = _said(message.get("sender"), text, message.get("created_at"))
        if turn is not None:
            yield turn


def _said(role: object, text: object, moment: object) -> Said | None:
    if not isinstance(role, str) or role not in _SPEAKERS or not isinstance(text, str):
        return None
    clean = text.encode("utf-8", "replace").decode().replace("\0", "").strip()
    return Said(_SPEAKERS[role], clean, moment_of(moment)) if clean else None


def _name_of(said: Mapping[str, Any]) -> str:
    for key in ("conversation_id", "id", "uuid"):
        given = said.get(key)
        if isinstance(given, str) and given:
            return shown(given)[:80]
    return ""


def _title(said: Mapping[str, Any]) -> str:
    for key in ("title", "name"):
        given = said.get(key)
        if isinstance(given, str) and given.strip():
            line = " ".join(shown(given).split())[:_LONGEST_TITLE]
            return f"Conversation “{line}”"
    return ""
