"""Settings of the property tests: the same examples every time, within the time of a test run."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile(
    "documents",
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("documents")
