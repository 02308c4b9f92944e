"""What a change would add to memory that looks like a secret."""

from __future__ import annotations

from workbench.engine.secrets.recognising import Secret, find_secrets


def added_secrets(before: bytes | None, after: bytes) -> tuple[Secret, ...]:
    """Return the secrets in a file's new content that its old content does not hold.

    Args:
        before: The file as it is; None where there is none.
        after: As it shall be.
    """
    known = (before or b"").decode("utf-8", "replace")
    lines = set(known.splitlines())
    # Long files change by a few lines: those alone are looked at, with what stands between them for long keys.
    text = after.decode("utf-8", "replace")
    new = "\n".join(line for line in text.splitlines() if line not in lines)
    return tuple(secret for secret in find_secrets(new) if secret.text not in known)
