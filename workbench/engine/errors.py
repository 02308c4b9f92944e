"""The one tree of errors that the engine raises.

WorkbenchError
├── InvalidInput          what was asked makes no sense as given           exit 2
│   └── InvalidSetting    a key of a settings file is unknown or ill-typed
├── NotFound              no memory, file, commit or workspace by that name  exit 3
├── Ambiguous             several memories answer to that name            exit 3
├── Refused                                                             exit 5
│   ├── RoleRefused       the role this door was opened with may not do it
│   ├── OutsideWorkspace  a path, link or id that leads out of the workspace
│   ├── BudgetExceeded    core memory would pass its cap
│   ├── SecretFound       what would be stored looks like a key, a token or a password
│   └── ConfirmationNeeded  destroys something and nobody has confirmed it
├── Locked                another process is writing                      exit 4
├── Stale                 what was to be changed has changed meanwhile       exit 4
├── DocumentError         a file, or a part of one, cannot be read as what it is  exit 1
├── HistoryError          the history repository cannot do what is needed      exit 1
│   └── HistoryDamaged    it is corrupt, or was rewritten by someone else
├── RemoteError           a git remote cannot be reached, refuses, or is not what it should be  exit 1
├── StorageError          disk full, read-only folder, permission denied     exit 1
└── ProviderError         a model's end point is missing, slow or answers badly  exit 1
"""

from __future__ import annotations

from typing import ClassVar


class WorkbenchError(Exception):
    """Something a person can act on.

    Args:
        message: What is wrong, naming the thing. One sentence.
        where: The file (with line where there is one), id or setting concerned.
        remedy: What to do about it. One sentence.
    """

    kind: ClassVar[str] = "error"
    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, *, where: str | None = None, remedy: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.where = where
        self.remedy = remedy

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        return f"{place}{self.told}"

    @property
    def told(self) -> str:
        """Return message and remedy as sentences, one after the other."""
        if not self.remedy:
            return self.message
        stop = "" if self.message.rstrip("”’)").endswith((".", "!", "?", "…")) else "."
        return f"{self.message}{stop} {self.remedy}"


class InvalidInput(WorkbenchError):
    kind = "invalid-input"
    exit_code = 2


class InvalidSetting(InvalidInput):
    kind = "invalid-setting"


class NotFound(WorkbenchError):
    kind = "not-found"
    exit_code = 3


class Ambiguous(WorkbenchError):
    kind = "ambiguous"
    exit_code = 3


class Refused(WorkbenchError):
    kind = "refused"
    exit_code = 5


class Cancelled(Refused):
    """What was under way was called off; it changed nothing."""

    kind = "cancelled"


class RoleRefused(Refused):
    kind = "role-refused"


class OutsideWorkspace(Refused):
    kind = "outside-workspace"


class BudgetExceeded(Refused):
    """Core memory would pass its cap.

    Args:
        message: The numbers.
        where: The file.
        remedy: What could go, in words.
        candidates: Text and tokens of the items that the remedy names.
    """

    kind = "budget-exceeded"

    def __init__(
        self,
        message: str,
        *,
        where: str | None = None,
        remedy: str | None = None,
        candidates: tuple[tuple[str, int], ...] = (),
    ) -> None:
        super().__init__(message, where=where, remedy=remedy)
        self.candidates = candidates


class SecretFound(Refused):
    """What would be stored looks like a secret.

    Args:
        message: What kind of secret it is, never the secret itself.
        where: The file that it would be in.
        remedy: How a person lets it in.
        kinds: Of everything that was found, for example `GitHub token`.
        digests: Under which they can be allowed.
    """

    kind = "secret-found"

    def __init__(
        self,
        message: str,
        *,
        where: str | None = None,
        remedy: str | None = None,
        kinds: tuple[str, ...] = (),
        digests: tuple[str, ...] = (),
    ) -> None:
        super().__init__(message, where=where, remedy=remedy)
        self.kinds = kinds
        self.digests = digests


class ConfirmationNeeded(Refused):
    kind = "confirmation-needed"


class Locked(WorkbenchError):
    kind = "locked"
    exit_code = 4


class Stale(WorkbenchError):
    kind = "stale"
    exit_code = 4


class DocumentError(WorkbenchError):
    kind = "document"


class HistoryError(WorkbenchError):
    kind = "history"


class HistoryDamaged(HistoryError):
    kind = "history-damaged"


class RemoteError(WorkbenchError):
    kind = "remote"


class StorageError(WorkbenchError):
    kind = "storage"


class ProviderError(WorkbenchError):
    kind = "provider"
