"""The index of one memory or many, kept in PostgreSQL with pgvector (extra `postgres`)."""
