"""Regular expressions that are compiled when they are first used: most of a start's are not."""

from __future__ import annotations

import re
from typing import AnyStr, Generic, cast


def lazy_pattern(text: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return a pattern that is compiled when it is first asked for something.

    Compiling costs up to some milliseconds, at every start of the program when it is done at import. It is used by its
    methods and attributes; a function of `re` takes none of these.

    Args:
        text: The regular expression.
        flags: Those of `re`.
    """
    return cast("re.Pattern[AnyStr]", _Uncompiled(text, flags))


class _Uncompiled(Generic[AnyStr]):
    def __init__(self, text: AnyStr, flags: int) -> None:
        self.pattern: AnyStr = text
        self._flags = flags

    def __getattr__(self, name: str) -> object:
        # Kept, so that the next use of it is as quick as the pattern's own.
        found: object = getattr(re.compile(self.pattern, self._flags), name)
        setattr(self, name, found)
        return found
