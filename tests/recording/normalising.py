"""All that a record leaves out or replaces because it belongs to the machine or the moment, and nothing else."""

from __future__ import annotations

import os
import platform
import re
import sys
from pathlib import Path
from typing import Any

# What these files hold cannot be the same twice: inodes and times of files, who holds a lock, when an index was used.
NAMES_ALONE = re.compile(
    r"(?:^|/)(?:stamps|stamps\.probe|[^/]*\.lock|[^/]*\.queue|workbench\.repack|seen-files|[^/]*\.used)$"
)
# What these say stands in the commits and files of the same step, only in another form: their digest will do.
DIGEST_ALONE = re.compile(r"(?:^|/)workbench\.journal$")
# Derived from the files at any time, in a form that is nobody's business.
LEFT_OUT = re.compile(r"(?:^|/)(?:cache|objects|__pycache__)(?:/|$)|(?:^|/)\.audit/(?:index|logs/)")
# Milliseconds and sizes of databases.
_NUMBERS = ("tookMs", "seconds", "pid", "startedAt", "indexBytes", "sizeOnDisk")
_CHECKOUT = Path(__file__).resolve().parents[2]
_RULES: list[tuple[re.Pattern[str], str]] = [
    (re.compile(r"0x[0-9a-f]{6,}"), "<address>"),
    (re.compile(r"\bworkbench-[a-z0-9_]{8}\.md\b"), "workbench-<random>.md"),
    (re.compile(r"\b\d+(?:\.\d+)? ms\b"), "<n> ms"),
    (re.compile(r"\bin \d+(?:\.\d+)? s\b"), "in <n> s"),
    (re.compile(r"(\"pid\": ?\"?)\d+"), r"\1<pid>"),
    (re.compile(r"\b(process|Process) \d+\b"), r"\1 <pid>"),
    (re.compile(r"(\"tookMs\": ?)[0-9.]+"), r"\1<n>"),
]


def _names(scratch: Path) -> list[tuple[str, str]]:
    found = [
        (str(scratch), "<scratch>"),
        (sys.executable, "<python>"),
        (str(Path(sys.executable).resolve()), "<python>"),
        (sys.prefix, "<prefix>"),
        (str(_CHECKOUT), "<checkout>"),
        (platform.python_version(), "<python-version>"),
    ]
    boot = Path("/proc/sys/kernel/random/boot_id")
    if boot.exists():
        found.append((boot.read_text(encoding="ascii").strip(), "<boot>"))
    if len(os.uname().nodename) > 5:
        found.append((os.uname().nodename, "<host>"))
    return sorted(found, key=lambda pair: -len(pair[0]))


class Normaliser:
    """Replaces what belongs to the machine or the moment.

    Args:
        scratch: The folder that everything happens in.
    """

    def __init__(self, scratch: Path) -> None:
        self._names = _names(scratch)

    def text(self, text: str) -> str:
        for name, shown in self._names:
            text = text.replace(name, shown)
        for pattern, shown in _RULES:
            text = pattern.sub(shown, text)
        return text

    def content(self, content: bytes) -> bytes:
        """Normalise a file; what is no UTF-8 is left as it is."""
        try:
            return self.text(content.decode()).encode()
        except UnicodeDecodeError:
            return content

    def value(self, value: Any) -> Any:
        """Normalise JSON values; what is no JSON is told as text."""
        if isinstance(value, str):
            return self.text(value.encode("utf-8", "backslashreplace").decode())
        if isinstance(value, dict):
            return {
                self.text(str(key)): "<n>" if key in _NUMBERS and each is not None else self.value(each)
                for key, each in value.items()
            }
        if isinstance(value, list | tuple):
            return [self.value(each) for each in value]
        if isinstance(value, set | frozenset):
            return sorted(self.value(each) for each in value)
        if isinstance(value, bytes):
            return self.text(value.decode("utf-8", "backslashreplace"))
        return value if value is None or isinstance(value, bool | int | float) else self.text(str(value))
