"""The index kept in PostgreSQL with pgvector, of one memory or of many (extra `postgres`)."""
