"""Search by the QMD program, where its user chose it; whatever goes wrong with it is a reason, never a crash."""

from workbench.engine.recall.qmd.backend import QmdAnswer, QmdBackend, QmdStatus
from workbench.engine.recall.qmd.failure import QmdFailed

__all__ = ["QmdAnswer", "QmdBackend", "QmdFailed", "QmdStatus"]
