"""Commands that bring memory in from elsewhere, and hand it over."""

from __future__ import annotations

from workbench.tui.keymap import Command

_SECTION = "On an import"


class ImportMemory(Command):
    """Bring in memory from elsewhere: of other agents, of chats, of notes. It shows first what would come in."""

    key = "I"


class ExportMemory(Command):
    """Write all memory to a file or a folder, to keep it or to take it elsewhere."""

    key = "O"


class LookAtSource(Command):
    """See what would come in from a place; nothing is changed."""

    key, section = "enter", _SECTION


class CompletePath(Command):
    """Write the rest of the path; in a folder, what is in it comes next."""

    key, section = "tab", _SECTION


class BringIn(Command):
    """Bring in what is shown; undo takes it back."""

    key, section = "w", _SECTION


class ImportAs(Command):
    """Go on to the next of what can become of it: memories, episodes alone, proposals to decide on."""

    key, section = "t", _SECTION


class CancelImport(Command):
    """Stop bringing in; what came in by then stays, and the rest comes when it is imported again."""

    key, section = "c", _SECTION


class WriteExport(Command):
    """Write the export to the place named."""

    key, section = "enter", _SECTION


class CancelExport(Command):
    """Stop writing the export; nothing of it stays."""

    key, section = "c", _SECTION


class ExportAs(Command):
    """Change between one file for other programs and a plain folder of the files."""

    key, section = "tab", _SECTION
