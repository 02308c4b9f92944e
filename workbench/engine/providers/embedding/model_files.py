"""Where local models are kept, and how an `hf:` address names one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from workbench.engine.errors import InvalidInput

_ADDRESS = re.compile(
    r"hf:(?P<owner>[\w.-]+)/(?P<repository>[\w.-]+)(?:@(?P<revision>[\w.-]+))?/(?P<file>[\w./ -]+\.gguf)",
    re.ASCII | re.IGNORECASE,
)


@dataclass(frozen=True)
class ModelAddress:
    """A file of a repository on a hub.

    Args:
        owner: Of the repository.
        repository: Its name.
        file: Path of the file in it.
        revision: Branch, tag or commit.
    """

    owner: str
    repository: str
    file: str
    revision: str = "main"

    @classmethod
    def read(cls, address: str) -> ModelAddress:
        """Take an address apart: `hf:owner/repository/file.gguf`, or `hf:owner/repository@revision/file.gguf`.

        Raises:
            InvalidInput: It is none.
        """
        found = _ADDRESS.fullmatch(address)
        parts = [part for group in found.groups("main") for part in group.split("/")] if found else []
        if found is None or any(not part.strip(". ") for part in parts):
            raise InvalidInput(
                "This is no address of a model.",
                where=address[:200],
                remedy="Write it as hf:owner/repository/file.gguf.",
            )
        return cls(found["owner"], found["repository"], found["file"], found["revision"] or "main")

    def url(self, hub: str) -> str:
        """Return where a hub serves the file."""
        from urllib.parse import quote

        path = f"{self.owner}/{self.repository}/resolve/{self.revision}/{quote(self.file)}"
        return f"{hub.rstrip('/')}/{path}"

    def file_in(self, folder: Path) -> Path:
        """Return where the file is kept in a folder of models; other revisions stand beside it."""
        below = folder / self.owner / self.repository
        return (below / f"@{self.revision}" if self.revision != "main" else below) / self.file


def models_folder(configured: str) -> Path:
    """Return the folder of downloaded models: the one configured, else one in the user's cache."""
    if configured:
        return Path(configured).expanduser()
    from platformdirs import user_cache_dir

    return Path(user_cache_dir("workbench", appauthor=False)) / "models"
