"""Commands of the time machine."""

from __future__ import annotations
