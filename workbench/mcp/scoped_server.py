"""The server for one person or one group: tools of that scope, its instructions, and no resources."""

from __future__ import annotations

import logging
from typing import cast

from mcp.shared.exceptions import MCPError
from mcp.types import (
    INVALID_PARAMS,
    ListResourcesResult,
    ListResourceTemplatesResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
)

from workbench.engine.errors import WorkbenchError
from workbench.engine.workspace import Workspace
from workbench.engine.workspace.scoped import ScopedMemory
from workbench.mcp.scoped_tools import scoped_tools
from workbench.mcp.server import Context, MemoryServer
from workbench.mcp.warming import Warming

_LOG = logging.getLogger(__name__)


class ScopedServer(MemoryServer):
    """What one scope may know and do, served.

    Args:
        door: The door of the scope, open as `main`, `agent:NAME` or `reader`.
    """

    def __init__(self, door: ScopedMemory) -> None:
        # Nothing below asks more of it than `role` and `instructions`: the tools bring their own door.
        super().__init__(cast(Workspace, door), tools=scoped_tools(door), greeting=door.instructions())
        self.warming = _ScopedWarming(door)

    async def _list_resources(
        self, _: Context, _params: PaginatedRequestParams | None
    ) -> ListResourcesResult:
        return ListResourcesResult(resources=[])

    async def _list_templates(
        self, _: Context, _params: PaginatedRequestParams | None
    ) -> ListResourceTemplatesResult:
        return ListResourceTemplatesResult(resource_templates=[])

    async def _read_resource(self, _: Context, _params: ReadResourceRequestParams) -> ReadResourceResult:
        raise MCPError(INVALID_PARAMS, "There are no resources here.")


class _ScopedWarming(Warming):
    def __init__(self, door: ScopedMemory) -> None:
        super().__init__(cast(Workspace, door))
        self._scoped = door

    def _warm(self) -> None:
        try:
            self._scoped.brief()
        except WorkbenchError as error:
            _LOG.warning("%s", error)


def server_for(door: Workspace | ScopedMemory) -> MemoryServer:
    """Return the server that suits a door."""
    return ScopedServer(door) if isinstance(door, ScopedMemory) else MemoryServer(door)
