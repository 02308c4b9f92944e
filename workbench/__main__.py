"""Start the command line: `python -m workbench` and the `workbench` command."""

from __future__ import annotations

from workbench.cli import run


def main() -> None:
    """Run the command named in `sys.argv` and exit with its code."""
    run()


if __name__ == "__main__":
    main()
