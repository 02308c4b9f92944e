"""The services of one open workspace, each imported and made when it is first asked for."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from workbench.engine.services.mutator import Mutator, projections, rescoring
from workbench.engine.services.secret_guard import EditScreen

if TYPE_CHECKING:
    from workbench.engine.history.history import History
    from workbench.engine.history.recovery import OtherHolders
    from workbench.engine.services.access import Access
    from workbench.engine.services.account import Account
    from workbench.engine.services.actions import ActionLog
    from workbench.engine.services.audit import Audit
    from workbench.engine.services.briefing import Briefing
    from workbench.engine.services.context import WorkspaceContext
    from workbench.engine.services.core import Core
    from workbench.engine.services.exports import Exports
    from workbench.engine.services.forgetting import Decay, Forgetting
    from workbench.engine.services.graph import Graph
    from workbench.engine.services.imports import Imports
    from workbench.engine.services.inbox import Inbox
    from workbench.engine.services.instructions import Instructions
    from workbench.engine.services.memory import Memory
    from workbench.engine.services.messages import ForgetRequests, Messages
    from workbench.engine.services.past import PastReader
    from workbench.engine.services.proposals import Proposals
    from workbench.engine.services.questions import Questions
    from workbench.engine.services.reasons import Reasons
    from workbench.engine.services.reflections import HandedReflection, Reflections
    from workbench.engine.services.retrieval import Retrieval
    from workbench.engine.services.reviews import PastReflectionReader, Reviews
    from workbench.engine.services.secrets import Secrets
    from workbench.engine.services.session_changes import SessionChanges
    from workbench.engine.services.session_flush import SessionFlush
    from workbench.engine.services.sessions import Sessions
    from workbench.engine.services.setting_changes import SettingChanges
    from workbench.engine.services.status import Status
    from workbench.engine.services.sync import Sync


class Services:
    """The services of one open workspace, each imported and made when it is first asked for."""

    def __init__(self, context: WorkspaceContext) -> None:
        self.context = context
        self.mutator = Mutator(context)

    def open_history(self) -> History:
        """Return the history, which screens edits, keeps projections and purges what lies elsewhere."""
        from workbench.engine.history.history import History

        context, settings = self.context, self.context.settings
        timeout = context.lock_timeout
        return History(
            context.root,
            clock=context.clock,
            state=context.state,
            zone=context.zone,
            lock_timeout=settings.history.lock_timeout if timeout is None else timeout,
            new_id=context.new_id,
            progress=context.progress,
            projections=projections(context),
            critical=settings.audit.critical,
            critical_alerts=settings.audit.critical_alerts,
            screen=EditScreen(context),
            rescore=rescoring(context),
            other_holders=self._other_holders,
            device=self._device,
        )

    def _device(self) -> str:
        from workbench.engine.sync.devices import load_link

        link = load_link(self.context.state)
        return link.device.name if link.remote else ""

    def _other_holders(self) -> OtherHolders:
        from workbench.engine.services.forgetting import Remains

        return Remains(self.context, self.past)

    @cached_property
    def past(self) -> PastReader:
        from workbench.engine.services.past import PastReader

        return PastReader(self.context)

    @cached_property
    def retrieval(self) -> Retrieval:
        from workbench.engine.services.retrieval import Retrieval

        return Retrieval(self.context, self.past)

    @cached_property
    def reasons(self) -> Reasons:
        from workbench.engine.services.reasons import Reasons

        return Reasons(self.context, self.retrieval, self.sessions)

    @cached_property
    def core(self) -> Core:
        from workbench.engine.services.core import Core

        return Core(self.context, self.mutator)

    @cached_property
    def status(self) -> Status:
        from workbench.engine.services.status import Status

        return Status(self.context)

    @cached_property
    def briefing(self) -> Briefing:
        from workbench.engine.services.briefing import Briefing

        return Briefing(self.context, self.retrieval)

    @cached_property
    def graph(self) -> Graph:
        from workbench.engine.services.graph import Graph

        return Graph(self.context, self.mutator, self.retrieval)

    @cached_property
    def reviews(self) -> Reviews:
        from workbench.engine.services.reviews import Reviews

        return Reviews(self.context, self.mutator, self.retrieval, self.past)

    @cached_property
    def reflections(self) -> Reflections:
        from workbench.engine.services.reflections import Reflections

        return Reflections(self.context, self.mutator, self.retrieval, self.reviews)

    @cached_property
    def handed_reflection(self) -> HandedReflection:
        from workbench.engine.services.reflections import HandedReflection

        return HandedReflection(self.context, self.mutator, self.reflections)

    @cached_property
    def proposals(self) -> Proposals:
        from workbench.engine.services.proposals import Proposals

        return Proposals(self.context, self.mutator, self.retrieval)

    @cached_property
    def memory(self) -> Memory:
        from workbench.engine.services.memory import Memory

        return Memory(self.context, self.mutator, self.retrieval)

    @cached_property
    def messages(self) -> Messages:
        from workbench.engine.services.messages import Messages

        return Messages(
            self.memory,
            self.retrieval,
            self.forget_requests,
            self.questions,
            lambda: self.reflections.reflect_or_present(),
        )

    @cached_property
    def questions(self) -> Questions:
        from workbench.engine.services.questions import Questions

        return Questions(self.context, self.audit, self.past)

    @cached_property
    def forgetting(self) -> Forgetting:
        from workbench.engine.services.forgetting import Forgetting

        return Forgetting(self.context, self.mutator, self.retrieval)

    @cached_property
    def forget_requests(self) -> ForgetRequests:
        from workbench.engine.services.messages import ForgetRequests

        return ForgetRequests(self.context, self.mutator, self.forgetting)

    @cached_property
    def decay(self) -> Decay:
        from workbench.engine.services.forgetting import Decay

        return Decay(self.context, self.mutator, self.retrieval)

    @cached_property
    def audit(self) -> Audit:
        from workbench.engine.services.audit import Audit

        return Audit(self.context, self.mutator, self.past)

    @cached_property
    def account(self) -> Account:
        from workbench.engine.services.account import Account

        return Account(self.context, self.past)

    @cached_property
    def actions(self) -> ActionLog:
        from workbench.engine.services.actions import ActionLog

        return ActionLog(self.context, self.mutator, self.past)

    @cached_property
    def secrets(self) -> Secrets:
        from workbench.engine.services.secrets import Secrets

        return Secrets(self.context, self.mutator, lambda: self.memory)

    @cached_property
    def inbox(self) -> Inbox:
        from workbench.engine.services.inbox import Inbox

        def undo(commit: str) -> None:
            self.audit.undo(confirmed=True, expected=commit)

        return Inbox(self.context, self.mutator, self.reviews, self.proposals, self.secrets, undo)

    @cached_property
    def past_reflections(self) -> PastReflectionReader:
        from workbench.engine.services.reviews import PastReflectionReader

        return PastReflectionReader(self.context, self.past)

    @cached_property
    def sessions(self) -> Sessions:
        from workbench.engine.services.sessions import Sessions

        return Sessions(self.context)

    @cached_property
    def session_flush(self) -> SessionFlush:
        from workbench.engine.services.session_flush import SessionFlush

        return SessionFlush(self.context, self.mutator, self.memory, self.sessions)

    @cached_property
    def session_changes(self) -> SessionChanges:
        from workbench.engine.services.session_changes import SessionChanges

        return SessionChanges(self.context, self.mutator, self.sessions, self.session_flush)

    @cached_property
    def imports(self) -> Imports:
        from workbench.engine.services.imports import Imports

        return Imports(self.context, self.mutator, self.proposals, self.past)

    @cached_property
    def exports(self) -> Exports:
        from workbench.engine.services.exports import Exports

        return Exports(self.context)

    @cached_property
    def setting_changes(self) -> SettingChanges:
        from workbench.engine.services.setting_changes import SettingChanges

        return SettingChanges(self.context, self.mutator)

    @cached_property
    def sync(self) -> Sync:
        from workbench.engine.services.sync import Sync

        return Sync(self.context, self.mutator)

    @cached_property
    def access(self) -> Access:
        from workbench.engine.services.access import Access

        return Access(self.context)

    @cached_property
    def instructions(self) -> Instructions:
        from workbench.engine.services.instructions import Instructions

        return Instructions(self.context)
