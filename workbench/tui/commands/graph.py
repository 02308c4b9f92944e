"""Commands of the graph browser."""

from __future__ import annotations
