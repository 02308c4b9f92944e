"""A few memories, a moment, and files to plan on."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tests.engine.memory.files_in_memory import NOW, Files
from workbench.engine.memory.decay import DecayContext, MemoryFacts
from workbench.engine.settings.sections import DecaySettings


@pytest.fixture
def files() -> Files:
    return Files()


@pytest.fixture
def reckoning() -> DecayContext:
    return DecayContext(NOW, settings=DecaySettings(lambda_=0.03))


@pytest.fixture
def memories() -> dict[str, MemoryFacts]:
    born = datetime(2026, 1, 30, 9, 0, tzinfo=UTC)
    found = [
        MemoryFacts("episode:2026-01-30:09:00", "episodic", "user-explicit", born),
        MemoryFacts("entity:person--alex", "semantic", "conversation", born),
        MemoryFacts("procedure:how-to-deploy", "procedural", "reflection", born),
        MemoryFacts("core:critical-facts:tea", "core", "user-explicit", born),
        MemoryFacts("vault:rules", "vault", "", born),
        MemoryFacts("file:memory/2026-01-30.md", "file", "", born),
    ]
    return {facts.id: facts for facts in found}
