"""Commands of the decay heatmap."""

from __future__ import annotations
