"""What the engine answers: frozen values, and the one rule that turns them into the JSON of the contracts.

Field names are the JSON's keys in snake case; `to_json` writes them in camel case, times as ISO 8601 in
UTC, absent values as null.
"""
