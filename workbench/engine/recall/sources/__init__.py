"""What is searched beside the workspace's own memory: extra Markdown files, and transcripts of sessions."""

from workbench.engine.recall.sources.extra_paths import ExtraPaths
from workbench.engine.recall.sources.sessions import SessionTranscripts

__all__ = ["ExtraPaths", "SessionTranscripts"]
