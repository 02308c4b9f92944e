"""Hands a text to the user's own editor and takes it back."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from textual.app import SuspendNotSupported

from workbench.engine.errors import InvalidSetting, StorageError

if TYPE_CHECKING:
    from textual.app import App


def edit_in_editor(app: App[object], text: str, *, suffix: str) -> str | None:
    """Let the user edit a text while the app steps aside.

    Args:
        app: The app that gives up the terminal meanwhile.
        text: What to edit.
        suffix: Ending of the temporary file, which tells the editor its language.

    Returns:
        The text as it was left, or None where the editor failed.

    Raises:
        InvalidSetting: There is no such editor.
        StorageError: The temporary file cannot be written or read, or this terminal cannot be given up.
    """
    command = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "") or ["vi"]
    try:
        handle, name = tempfile.mkstemp(suffix=suffix, prefix="workbench-", text=True)
    except OSError as error:
        raise StorageError(
            f"No temporary file could be made: {error.strerror}.", remedy="Free some space."
        ) from error
    path = Path(name)
    try:
        os.close(handle)
        # As bytes, so that line endings stay what they are.
        path.write_bytes(text.encode())
        with app.suspend():
            finished = subprocess.run([*command, name], check=False)
        return path.read_bytes().decode() if finished.returncode == 0 else None
    except FileNotFoundError as error:
        raise InvalidSetting(
            f"“{command[0]}” is no program here.",
            where="EDITOR",
            remedy="Set EDITOR to one, for example nano.",
        ) from error
    except SuspendNotSupported as error:
        raise StorageError(
            "This terminal cannot be handed to an editor.", remedy="Edit in place with e."
        ) from error
    except (OSError, UnicodeDecodeError) as error:
        raise StorageError(
            f"The edited text could not be read back: {error}.", remedy="Edit in place with e."
        ) from error
    finally:
        path.unlink(missing_ok=True)
