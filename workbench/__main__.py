"""Start the command line: `python -m workbench` and the `workbench` command."""

from __future__ import annotations


def main() -> None:
    """Run the command named in `sys.argv` and exit with its code."""
    from workbench.cli import run

    run()


if __name__ == "__main__":
    main()
