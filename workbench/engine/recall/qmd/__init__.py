"""Search by the QMD program, where its user chose it; whatever goes wrong with it is a reason, never a crash."""

from workbench.engine.recall.qmd.backend import QmdBackend, QmdStatus, delete_home
from workbench.engine.recall.qmd.failure import QmdFailed
from workbench.engine.recall.qmd.hits import QmdAnswer

__all__ = ["QmdAnswer", "QmdBackend", "QmdFailed", "QmdStatus", "delete_home"]
