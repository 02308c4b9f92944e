"""Memory that was kept elsewhere, read piece by piece: agents' workspaces, transcripts, chat exports, documents."""
