"""Start the command line: `python -m workbench` and the `workbench` command."""

from __future__ import annotations

import os


def main() -> None:
    """Run the command named in `sys.argv` and exit with its code."""
    # Vectors are short and the work around them is not numpy's: its threads would wait for each other at full speed.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from workbench.cli import run

    run()


if __name__ == "__main__":
    main()
