"""The shared database of OpenClaw with copies of MEMORY.md, made from its documented table."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path


def make(place: Path, copies: dict[str, str], *, workspace: str = "/home/u/clawd") -> Path:
    """Write a database: by time of its taking, what MEMORY.md said."""
    place.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(place)) as database:
        database.execute(
            "CREATE TABLE plugin_state_entries (plugin_id TEXT, namespace TEXT, entry_key TEXT, value_json TEXT,"
            " created_at INTEGER, expires_at INTEGER)"
        )
        rows = [
            ("dreaming-memory-backups", {"createdAt": created, "content": content, "contentHash": "0a1b"})
            for created, content in copies.items()
        ]
        rows.append(("short-term-recall", {"content": "never a copy"}))
        for namespace, value in rows:
            wrapped = {
                "version": 1,
                "workspaceKey": "k",
                "workspaceDir": workspace,
                "key": "k",
                "value": value,
            }
            database.execute(
                "INSERT INTO plugin_state_entries VALUES ('memory-core', ?, 'a:b', ?, 0, NULL)",
                (namespace, json.dumps(wrapped)),
            )
        database.execute(
            "INSERT INTO plugin_state_entries VALUES ('memory-core', 'dreaming-memory-backups', 'c', '{torn', 0, NULL)"
        )
        database.commit()
    return place
