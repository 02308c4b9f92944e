"""Names of the trailers by which a commit says which other one it took back or did again."""

UNDOES = "Undoes"
REDOES = "Redoes"
REVERTS = "Reverts"
REVERTS_ITEM = "Reverts-Item"
RESTORES = "Restores"
