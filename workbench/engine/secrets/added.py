"""What a change would add to memory that looks like a secret."""

from __future__ import annotations

from workbench.engine.secrets.recognising import Secret, find_secrets


def text_of(content: bytes) -> str:
    """Return what a file says, to look for secrets in it. All are ASCII, and UTF-16 puts a NUL to each letter.

    Args:
        content: Of a file in UTF-8, UTF-16 or whatever encoding has ASCII in it.
    """
    return content.replace(b"\0", b"").decode("utf-8", "replace")


def added_secrets(before: bytes | None, after: bytes) -> tuple[Secret, ...]:
    """Return the secrets in a file's new content that its old content does not hold.

    Args:
        before: The file as it is; None where there is none.
        after: As it shall be.
    """
    known = text_of(before or b"")
    found = find_secrets(text_of(after))
    return tuple(secret for secret in found if secret.text not in known)
