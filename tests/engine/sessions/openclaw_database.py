"""An agent's database as OpenClaw writes it, made from its documented tables."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import zstandard

TABLES = """
CREATE TABLE schema_meta (meta_key TEXT PRIMARY KEY, role TEXT, schema_version INTEGER) STRICT;
CREATE TABLE session_nodes (
  session_key TEXT PRIMARY KEY, current_session_id TEXT, entry_json TEXT, updated_at INTEGER, status TEXT, label TEXT,
  display_name TEXT, pinned_at INTEGER, archived_at INTEGER) STRICT;
CREATE TABLE session_windows (
  session_id TEXT PRIMARY KEY, session_key TEXT, previous_session_id TEXT, reason TEXT) STRICT;
CREATE TABLE transcript_events (
  session_id TEXT, seq INTEGER, event_json TEXT, event_zstd BLOB, created_at INTEGER, event_utf8_bytes INTEGER,
  navigation_json TEXT, PRIMARY KEY (session_id, seq)) STRICT;
"""
COMPRESSED_FROM = 1024


def make(
    place: Path,
    sessions: dict[str, tuple[dict[str, Any], list[dict[str, Any]]]],
    *,
    wal: bool = True,
    schema: int = 23,
) -> Path:
    """Write a database: by session key its entry and its events; events of a kilobyte and more are compressed."""
    place.parent.mkdir(parents=True, exist_ok=True)
    database = sqlite3.connect(place)
    if wal:
        database.execute("PRAGMA journal_mode=WAL")
    database.executescript(TABLES)
    database.execute(f"PRAGMA user_version={schema}")
    for key, (entry, events) in sessions.items():
        session_id = entry["sessionId"]
        database.execute(
            "INSERT INTO session_nodes VALUES (?, ?, ?, ?, 'idle', ?, NULL, NULL, NULL)",
            (key, session_id, json.dumps(entry), entry.get("updatedAt"), entry.get("label")),
        )
        database.execute("INSERT INTO session_windows VALUES (?, ?, NULL, 'new')", (session_id, key))
        for seq, event in enumerate(events):
            add_event(database, session_id, seq, event)
    database.commit()
    database.close()
    return place


def add_event(database: sqlite3.Connection, session_id: str, seq: int, event: dict[str, Any]) -> None:
    """Write one event, compressed where it is large."""
    content = json.dumps(event).encode()
    large = len(content) >= COMPRESSED_FROM
    database.execute(
        "INSERT INTO transcript_events VALUES (?, ?, ?, ?, 0, ?, NULL)",
        (
            session_id,
            seq,
            None if large else content.decode(),
            zstandard.ZstdCompressor().compress(content) if large else None,
            len(content),
        ),
    )
