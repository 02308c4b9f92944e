"""The message of a commit: subject, trailers and the audit lines it stands for (design document §12.3)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from workbench.engine.documents.audit_log import parse_audit_fields, render_audit_fields
from workbench.engine.errors import InvalidInput
from workbench.engine.history.git_store import Commit

RESERVED = frozenset({"Actor", "Approval", "Trigger", "Transaction", "Audit"})

_KEY = re.compile(r"^[A-Za-z][A-Za-z0-9-]*$")
_SUBJECT = re.compile(r"^\[([A-Z]+)\] (.*?) — (.*)$")
# Control characters, the line and paragraph separators, and halves of surrogate pairs.
_UNSAFE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\\]")
_ESCAPED = re.compile(r"\\(\\|n|x[0-9a-f]{2}|u[0-9a-f]{4})")


@dataclass(frozen=True)
class AuditEntry:
    """One line of the audit log, as far as its commit does not say it already."""

    action: str
    file: str
    approval: str
    summary: str


@dataclass(frozen=True)
class CommitMessage:
    """What a history commit says.

    Args:
        action: Of the subject.
        file: Of the subject; a path or a pattern.
        summary: Of the subject, one line.
        actor: Who.
        approval: On whose approval.
        trigger: What set it off, one line.
        transaction: The id of the transaction.
        entries: The audit lines.
        trailers: Further trailers in order; keys may repeat.
    """

    action: str
    file: str
    summary: str
    actor: str
    approval: str
    trigger: str
    transaction: str
    entries: tuple[AuditEntry, ...] = ()
    trailers: tuple[tuple[str, str], ...] = ()

    def trailer(self, key: str) -> str | None:
        """Return the first further trailer of that key, or None."""
        return next((value for name, value in self.trailers if name == key), None)

    def values(self, key: str) -> tuple[str, ...]:
        """Return every further trailer of that key, in order."""
        return tuple(value for name, value in self.trailers if name == key)


def render_message(message: CommitMessage) -> str:
    """Write a commit's message. No field can start a line of its own.

    Raises:
        InvalidInput: A further trailer has a reserved or malformed key.
    """
    # The first dash of a subject ends the file's name, so the name itself must show none.
    file = _one_line(message.file).replace("—", "\\u2014")
    lines = [
        f"[{message.action}] {file} — {_one_line(message.summary)}",
        "",
        f"Actor: {_one_line(message.actor)}",
        f"Approval: {_one_line(message.approval)}",
        f"Trigger: {_one_line(message.trigger)}",
        f"Transaction: {_one_line(message.transaction)}",
    ]
    for key, value in message.trailers:
        if key in RESERVED or not _KEY.match(key):
            raise InvalidInput(
                f"“{key[:40]}” cannot be a trailer of a commit.", remedy="Choose another name."
            )
        lines.append(f"{key}: {_one_line(value)}")
    for entry in message.entries:
        fields = render_audit_fields((entry.action, entry.file, entry.approval, entry.summary))
        lines.append(f"Audit: {fields}")
    return "\n".join(lines) + "\n"


def parse_message(commit: Commit) -> CommitMessage:
    """Read a commit's message; one that the engine did not write gives what can be known of it."""
    subject, _, body = commit.message.partition("\n")
    matched = _SUBJECT.match(subject)
    action, file, summary = matched.groups() if matched else ("EDIT", "*", subject)
    known: dict[str, str] = {}
    entries: list[AuditEntry] = []
    trailers: list[tuple[str, str]] = []
    for line in body.split("\n"):
        key, separator, value = line.partition(": ")
        if not separator or not _KEY.match(key):
            continue
        if key == "Audit":
            fields = parse_audit_fields(value)
            if len(fields) == 4:
                entries.append(AuditEntry(*fields))
        elif key in RESERVED:
            known.setdefault(key, _unescape(value))
        else:
            trailers.append((key, _unescape(value)))
    ours = "Transaction" in known
    approval = known.get("Approval", "—")
    file, summary = _unescape(file), _unescape(summary)
    return CommitMessage(
        action=action,
        file=file,
        summary=summary,
        actor=known.get("Actor", commit.author) if ours else commit.author,
        approval=approval,
        trigger=known.get("Trigger", "—"),
        transaction=known.get("Transaction", ""),
        entries=tuple(entries) if ours else (AuditEntry(action, file, "—", summary),),
        trailers=tuple(trailers),
    )


def author_of(actor: str) -> tuple[str, str]:
    """Return a git author's name and e-mail address for an actor's tag."""
    name = re.sub(r"[\x00-\x1f\x7f<>]", "", _valid(actor)).strip(" .,:;\"'") or "unknown"
    local = re.sub(r"[^a-z0-9-]+", "-", actor.partition(":")[0].casefold()).strip("-") or "unknown"
    return name, f"{local}@workbench.invalid"


def _one_line(text: str) -> str:
    return _UNSAFE.sub(lambda found: _escape(found[0]), text)


def _escape(character: str) -> str:
    if character == "\\":
        return "\\\\"
    if character == "\n":
        return "\\n"
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def _unescape(text: str) -> str:
    def character(found: re.Match[str]) -> str:
        code = found[1]
        if code == "\\":
            return "\\"
        return "\n" if code == "n" else chr(int(code[1:], 16))

    return _ESCAPED.sub(character, text)


def _valid(text: str) -> str:
    """Return a text without halves of surrogate pairs, which no UTF-8 can hold."""
    return re.sub(r"[\ud800-\udfff]", "\ufffd", text)
