"""Names of the trailers by which a commit says which other one it took back, did again, or goes on with."""

UNDOES = "Undoes"
REDOES = "Redoes"
REVERTS = "Reverts"
REVERTS_ITEM = "Reverts-Item"
RESTORES = "Restores"
CONTINUES = "Continues"
"""Names the first commit of an action that is too large for one; they are taken back together."""
