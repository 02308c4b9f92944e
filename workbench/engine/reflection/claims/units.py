"""Units of measurement: what each measures, and how much of it."""

from __future__ import annotations

from typing import Final

_TABLE: Final[dict[str, dict[str, float]]] = {
    "time": {
        "ms millisecond milliseconds 毫秒": 0.001,
        "s sec secs second seconds 秒": 1,
        "min mins minute minutes 分钟": 60,
        "h hr hrs hour hours 小时": 3600,
        "day days 天": 86400,
        "week weeks 周": 604800,
        "month months 个月": 2592000,
        "year years 年": 31536000,
    },
    "share": {"% percent percentage 个百分点": 1},
    "bytes": {"kb kib": 1e3, "mb mib": 1e6, "gb gib": 1e9, "tb": 1e12},
    "length": {
        "mm": 0.001,
        "cm": 0.01,
        "km kilometers kilometres 公里": 1000,
        "mile miles": 1609,
        "meters metres 米": 1,
    },
    "mass": {"kg 公斤": 1, "lb lbs pounds": 0.45},
    "money": {"dollars usd": 1, "元": 1, "euros eur": 1},
}
UNITS: Final = {
    unit: (dimension, factor)
    for dimension, table in _TABLE.items()
    for names, factor in table.items()
    for unit in names.split()
}
"""Dimension and factor by the unit as it is written, folded."""
