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
    found = find_secrets(after.decode("utf-8", "replace"))
    return tuple(secret for secret in found if secret.text not in known)
