"""The bench’s calls answered by a real workspace; every line of thinking is the engine’s."""

from __future__ import annotations

from workbench.tui.workspace_bench.answering import WorkspaceBench, notices

__all__ = ["WorkspaceBench", "notices"]
