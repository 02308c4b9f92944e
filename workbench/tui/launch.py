"""Opens the bench on a workspace, from the command line."""

from __future__ import annotations

from pathlib import Path


def run(path: Path, at: str | None = None) -> None:
    """Open the bench and stay until it is closed.

    Args:
        path: The workspace folder.
        at: A memory or file to open at.

    Raises:
        WorkbenchError: The workspace cannot be opened.
    """
    import os

    from workbench.engine.settings import user_settings_file
    from workbench.engine.workspace import Workspace
    from workbench.tui.app import BenchApp
    from workbench.tui.workspace_bench import WorkspaceBench

    with Workspace.open(path, role="person", reads_refresh=False) as workspace:
        app = BenchApp(
            WorkspaceBench(workspace),
            config_folder=user_settings_file(os.environ).parent,
            theme=workspace.settings.bench.theme,
            target=at or "",
        )
        app.run()
