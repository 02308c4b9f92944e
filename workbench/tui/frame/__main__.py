"""`python -m workbench.tui.frame FOLDER`: the new bench, until it takes the place of the old one."""

from __future__ import annotations

import sys
from pathlib import Path

from workbench.engine.workspace import Workspace
from workbench.tui.frame.app import FrameApp

# Seconds that a change waits for another writer, with a person looking on.
_LOCK_TIMEOUT = 3.0


def main() -> None:
    """Open the bench on the folder named."""
    with Workspace.open(
        Path(sys.argv[1] if len(sys.argv) > 1 else "."),
        role="person",
        reads_refresh=False,
        lock_timeout=_LOCK_TIMEOUT,
    ) as workspace:
        FrameApp(workspace, follow=True).run()


if __name__ == "__main__":
    main()
