"""Imports memory from elsewhere: agents' workspaces, transcripts, chat exports, documents."""
