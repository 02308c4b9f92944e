"""The part of the door for secrets: what was held back waits for a person, who alone lets it in."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from workbench.engine import layout, results
from workbench.engine.agents.roles import Capability, require
from workbench.engine.clock import parse_time
from workbench.engine.errors import InvalidInput
from workbench.engine.workspace.writing import Writing

if TYPE_CHECKING:
    from workbench.engine.history import FileView, Plan
    from workbench.engine.workspace.held_back import HeldBackFile, HeldRequest

_DOING = "let secrets into memory"
_DIGEST = frozenset("0123456789abcdef")
_NAMED_TEXT = {"remember": "text", "propose": "content"}


class Holding(Writing):
    """Secrets: seen by everybody with their own text left out, decided on by a person."""

    def secrets_held(self) -> results.HeldBackList:
        """Return what was held back, oldest first; the secrets themselves are left out.

        Raises:
            StorageError: The file of what was held back cannot be read.
        """
        from workbench.engine.secrets import masked

        require(self._ground.role, Capability.READ)
        return results.HeldBackList(
            tuple(
                results.HeldMemory(
                    request.number,
                    masked(_text_of(request)),
                    request.method,
                    request.role,
                    parse_time(request.moment),
                    request.kinds,
                    request.digests,
                )
                for request in self._held().read()
            )
        )

    def secrets_store(self, number: int, *, leave_out: bool = False) -> results.Remembered:
        """Remember what was held back, in one commit; the secrets in it are allowed from then on. Only a person may.

        Args:
            number: Of what was held back.
            leave_out: Store it with `[secret left out]` where the secret is; nothing is allowed then.

        Raises:
            RoleRefused: This door is no person's.
            NotFound: Nothing of that number waits.
        """
        from workbench.engine.secrets import masked

        require(self._ground.role, Capability.CHANGE_SETTINGS, doing=_DOING)
        held = self._held()
        request = held.take(number)
        if not leave_out:
            self.secrets_allow(request.digests)
        text = _text_of(request)
        remembered = self.remember(masked(text) if leave_out else text, **_wishes(request))
        if remembered.held_back is None:
            held.drop(number)
        return remembered

    def secrets_drop(self, number: int) -> results.HeldBackList:
        """Forget what was held back; no trace of it stays. Only a person may. Returns what waits still.

        Raises:
            RoleRefused: This door is no person's.
            NotFound: Nothing of that number waits.
        """
        require(self._ground.role, Capability.CHANGE_SETTINGS, doing="decide on what was held back")
        held = self._held()
        held.take(number)
        held.drop(number)
        return self.secrets_held()

    def secrets_allow(self, digests: Iterable[str]) -> results.Changed:
        """Let secrets be stored, wherever they come up; one commit of the settings. Only a person may.

        Args:
            digests: As refusals and `secrets_held` name them.

        Raises:
            RoleRefused: This door is no person's.
            InvalidInput: One is no digest.
            InvalidSetting: `workbench.toml` cannot be read.
        """
        from workbench.engine.settings import check_settings, write_setting

        ground = self._ground
        require(ground.role, Capability.CHANGE_SETTINGS, doing=_DOING)
        wanted = tuple(dict.fromkeys(digests))
        for digest in wanted:
            if len(digest) != 16 or not _DIGEST.issuperset(digest):
                raise InvalidInput(
                    f"“{digest[:40]}” is no digest of a secret.", remedy="Copy it from: workbench secrets"
                )
        ground.follow_settings()

        def plan(view: FileView) -> Plan[results.Changed]:
            from workbench.engine.history.plan import Action, FileChange, Plan

            before = view.read(layout.SETTINGS)
            known = ground.settings.secrets.allow
            allowed = [*known, *(each for each in wanted if each not in known)]
            after = write_setting(before or b"", "secrets.allow", allowed)
            check_settings(after)
            action = Action.CREATE if before is None else Action.EDIT
            summary = f"{len(wanted)} allowed" if len(wanted) != 1 else f"{wanted[0]} allowed"
            change = FileChange(layout.SETTINGS, after, action, f"secrets.allow: {summary}")
            changed = set(allowed) != set(known)
            return Plan(
                action,
                layout.SETTINGS,
                f"secrets.allow: {summary}",
                (change,) if changed else (),
                outcome=results.Changed(None, ids=(f"file:{layout.SETTINGS}",)),
            )

        receipt = ground.mutate(
            plan, ground.attribution("a secret was allowed"), Capability.CHANGE_SETTINGS, doing=_DOING
        )
        ground.follow_settings()
        return replace(receipt.outcome, commit=receipt.commit, files=receipt.files)

    def secrets_scan(self) -> results.SecretScan:
        """Look through every memory file for what looks like a secret already.

        Raises:
            OutsideWorkspace: A file leads out of the workspace.
        """
        from workbench.engine.secrets import find_secrets

        ground = self._ground
        require(ground.role, Capability.READ)
        ground.follow_settings()
        allowed = ground.settings.secrets.allow
        places: list[results.SecretPlace] = []
        paths = ground.files.list("")
        for path in paths:
            text = (ground.files.read(path) or b"").decode("utf-8", "replace")
            places += [
                results.SecretPlace(
                    path, text.count("\n", 0, each.start) + 1, each.kind, each.digest, each.digest in allowed
                )
                for each in find_secrets(text)
            ]
        return results.SecretScan(tuple(places), len(paths))

    def _held(self) -> HeldBackFile:
        from workbench.engine.workspace.held_back import HeldBackFile

        return HeldBackFile(self._ground.state)


def _text_of(request: HeldRequest) -> str:
    return str(request.arguments.get(_NAMED_TEXT.get(request.method, "text"), ""))


def _wishes(request: HeldRequest) -> dict[str, Any]:
    """Return what `remember` takes beside the text; what an agent proposed is remembered as from that agent."""
    kept = (
        "store",
        "type",
        "tags",
        "entities",
        "confidence",
        "source",
        "block",
        "origins",
        "pinned",
        "scope",
    )
    wishes = {name: request.arguments[name] for name in kept if request.arguments.get(name)}
    agent = request.role.partition(":")[2]
    if request.method == "propose":
        wishes.setdefault("source", "conversation")
        if agent:
            wishes["actor"] = f"bot:commit-from:{agent}"
    return wishes
