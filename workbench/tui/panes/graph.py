"""The Graph pane: every entity as a table, one of them with what lies around it as a drawing, and what it knows."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import on

from workbench.display.canvas import Picture
from workbench.display.graph_drawing.neighbourhood import draw_neighbourhood, members_of
from workbench.display.graph_drawing.path import draw_path
from workbench.tui import commands
from workbench.tui.keymap import bindings
from workbench.tui.palette import PAPER
from workbench.tui.panes.graph_editing import GraphEditing
from workbench.tui.panes.graph_places import GRAPH, GraphPlace, place_of_key
from workbench.tui.panes.graph_reading import Arrangement, GraphReading, node_of
from workbench.tui.trail import Place
from workbench.tui.views.graph_entity import Portrait, entity_lines, far_end, group_lines
from workbench.tui.views.graph_filter import GraphFilter, parse_graph_filter
from workbench.tui.views.graph_head import around_line, members_line, path_line
from workbench.tui.views.graph_table import SORT_LINK, SORTS, header_line
from workbench.tui.views.teaching import teach
from workbench.tui.widgets.detail import Detail
from workbench.tui.widgets.drawing_canvas import DrawingCanvas
from workbench.tui.widgets.entity_detail import EntityDetail
from workbench.tui.widgets.filter_bar import FilterInput
from workbench.tui.widgets.status_line import StatusLine

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult

    from workbench.display.ink import Line
    from workbench.engine.results.graph import GraphEdge, GraphNode, GraphView
    from workbench.tui.bench import Bench, Memory
    from workbench.tui.views.graph_table import EntityRows

GROUP = "group:"
_MOST_CHOSEN = 500
_EMPTY = teach(
    "The graph is empty.",
    "Entities are the people, projects, places and things that memory is about, with their facts and the relations "
    "between them. They come by themselves: from what the agent remembers about somebody, and from reflections "
    "that you approve.",
    ("n", "adds one by hand."),
    ('workbench remember "Mira leads Apollo" --entity person:Mira', "writes a memory about one."),
    ("workbench demo", "builds a sample workspace to look around in."),
)
_READING = teach("Reading the entities.", "They appear here as soon as all of them are read.")
_NOTHING_MATCHES = teach(
    "Nothing matches.",
    "Words must all occur; type:, relation:, status:, score:, after: and before: narrow further, a minus turns a "
    "condition round.",
    ("type:person score:>0.5 relation:uses after:2026-01", "for example."),
    ("esc", "shows everything again."),
)
_NO_WAY = teach(
    "No way leads from one to the other.",
    "Nothing that memory knows relates them, not even by way of others.",
    ("l", "relates them."),
    ("c", "looks for a way to another entity."),
    ("esc", "leads back."),
)


class GraphPane(GraphEditing):
    """A table of entities, or a drawing of the relations around one, and the entity under the cursor."""

    title: ClassVar = "Graph"
    filter_hint: ClassVar = "words  type:  relation:  score:>0.5  status:  after:  before:"
    BINDINGS: ClassVar = bindings(
        commands.SwitchView, commands.ChangeHops, commands.FindWay, commands.SortTable, commands.StepBack,
        commands.ReadEntity,
    )  # fmt: skip
    DEFAULT_CSS = """
    GraphPane DrawingCanvas { display: none; }
    GraphPane.-drawing DrawingCanvas { display: block; }
    GraphPane.-drawing VirtualList { display: none; }
    GraphPane VirtualList { scrollbar-gutter: stable; }
    """

    def __init__(self, bench: Bench, *, id: str) -> None:  # noqa: A002 - Textual's name
        super().__init__(bench, id=id)
        self._at = GraphPlace("table")
        self._depth = 1
        self._sort = "relations"
        self._filter = GraphFilter()
        self._view: GraphView | None = None
        self._hidden = 0
        self._chosen_at: dict[str, str] = {}
        self._groups: dict[str, tuple[str, tuple[str, ...]]] = {}
        self._drawn = ""
        self._item_wanted = ""

    def compose_below_filter(self) -> ComposeResult:
        yield StatusLine(id="graph-head", ground=PAPER)
        yield DrawingCanvas(id="graph-canvas", step=Picture.step, empty=_NO_WAY)

    def compose_detail(self) -> ComposeResult:
        yield EntityDetail(id=f"{self.id}-detail")

    def teach(self, width: int) -> Sequence[Line]:
        if self._table is not None and self._table.entities:
            return _NOTHING_MATCHES(width)
        if self._table is None:
            return _READING(width)
        return _READING(width) if self.bench.progress() is not None else _EMPTY(width)

    @property
    def canvas(self) -> DrawingCanvas:
        """Return the drawing."""
        return self.query_one(DrawingCanvas)

    def focus_list(self) -> None:
        if self._at.is_drawing:
            self.focus_part(self.canvas)
        else:
            super().focus_list()

    # --- where one is ---------------------------------------------------------------------------------------

    def here(self) -> str:
        """Return what the cursor is on: an entity’s id, or the key of a box that stands for several."""
        if not self.is_mounted:
            return ""
        return self.canvas.chosen if self._at.is_drawing else self.list.cursor_key

    def place(self) -> Place:
        at = self._at
        if at.kind == "table":
            at = GraphPlace("table", self.list.cursor_key)
        return Place(GRAPH, at.key, self.filter_bar.text)

    def go_to(self, key: str, filter_text: str = "") -> None:
        """Show a place: see `place_of_key`."""
        if self.filter_bar.text != filter_text:
            self.filter_bar.set_text(filter_text)
        self._filter = parse_graph_filter(filter_text, self._today)
        before, at = self._at, place_of_key(key)
        self._item_wanted = at.item
        self._at = replace(at, item="")
        self.set_class(at.is_drawing, "-drawing")
        if at.is_drawing:
            self._read_again()
            if before != self._at or not self.canvas.picture.regions:
                self._begin_drawing()
        else:
            row = at.center if at.kind == "table" else ""
            self.wanted_key = "" if not row or self.list.go_to(row) else row
            self._arrange()
            self.show_detail(self.list.cursor_key)
        self._draw_head()
        self.refresh_bindings()

    def _begin_drawing(self) -> None:
        """Show what is known of a place at once: its head, and its entity in the detail."""
        self._view = self._known_view()
        self._hidden = 0
        if self._view is not None:
            self._draw_canvas()
        else:
            self.show_detail(self._at.center)

    def _known_view(self) -> GraphView | None:
        """Return the neighbourhood where it has been read already, because the cursor was on its centre."""
        if self._at.kind == "around" and self._depth == 1 and not self._filter:
            return self._entity_views.get(self._at.center)
        return None

    def visit(self, place: GraphPlace, filter_text: str | None = None) -> None:
        """Go to another place, as a step of the trail; the filter stays unless another is given."""
        text = self.filter_bar.text if filter_text is None else filter_text
        self.post_message(self.Visit(Place(GRAPH, place.key, text)))

    def walk_to(self, key: str) -> None:
        """Make an entity the centre of the drawing."""
        self.visit(GraphPlace("around", key), None if self._at.kind == "around" else "")

    # --- reading --------------------------------------------------------------------------------------------

    def reload(self) -> None:
        self._today = self.bench.now().date()
        self.read_table(self._arrangement())
        if self._at.is_drawing:
            self._read_again()

    def _read_again(self) -> None:
        self.read_drawing(self._at, self._depth, self._filter)

    @on(GraphReading.TableRead)
    def _table_read(self, event: GraphReading.TableRead) -> None:
        event.stop()
        if self._saying is not None:
            self._saying.stop()
        self._table, self._whole, self._types = event.table, event.whole, event.types
        self.has_read()
        if event.arrangement == self._arrangement():
            self._show_arranged(event.arrangement, event.rows)
        else:
            self._arrange()
        if self._at.is_drawing:
            self._draw_head()
            self.show_detail(self.here() or self._at.center)

    def apply_filter(self, text: str) -> None:
        wanted = parse_graph_filter(text, self._today)
        if wanted == self._filter:
            return
        self._filter = wanted
        if self._at.is_drawing or self._table is not None:
            self.filter_asked = wanted
        if self._at.is_drawing:
            self._read_again()
        else:
            self._arrange()

    def _arrangement(self) -> Arrangement:
        members = self._groups.get(self._at.key, ("", ()))[1] if self._at.kind == "members" else None
        return Arrangement(self._filter, self._sort, None if members is None else frozenset(members))

    def _arrange(self) -> None:
        if self._table is not None:
            self.order_table(self._table, self._arrangement())

    @on(GraphReading.Arranged)
    def _arranged(self, event: GraphReading.Arranged) -> None:
        event.stop()
        if event.table is not self._table or event.arrangement != self._arrangement():
            return
        self._show_arranged(event.arrangement, event.rows)

    def _show_arranged(self, arrangement: Arrangement, rows: EntityRows) -> None:
        if not self._at.is_drawing:
            self.filter_answered = self.filter_asked
        self.list.show(rows)
        if self.wanted_key and self.list.go_to(self.wanted_key):
            self.wanted_key = ""
        if not self._at.is_drawing:
            of = len(self._whole) if arrangement.members is None else len(arrangement.members)
            self.filter_bar.set_count(len(rows), of)
            self._draw_head()
            self.show_detail(self.list.cursor_key)
            self.refresh_bindings()

    @on(GraphReading.DrawingRead)
    def _drawing_read(self, event: GraphReading.DrawingRead) -> None:
        event.stop()
        if event.number != self._drawings or not self._at.is_drawing:
            return
        # The newest reading is of the newest filter.
        self.filter_answered = self.filter_asked
        if event.error is not None or event.view is None or event.whole is None:
            # The entity is gone, or never was: what is left is in the table.
            self.post_message(self.Done(None, event.error))
            # It takes the place’s own step of the trail, which would lead here again.
            self.go_to(GraphPlace("table", self._at.center).key)
            if self.display:
                self.focus_list()
                self.post_message(self.Settled())
            return
        view = event.view
        if self._at.kind == "around" and view.center is not None and view.center != self._at.center:
            self.notify(
                f"{self.label(self._at.center)} is part of {_label_in(view, view.center)} now.", markup=False
            )
            self._at = replace(self._at, center=view.center)
            self.post_message(self.Settled())
        self._view = view
        self._hidden = len(event.whole.nodes) - len(view.nodes)
        if self._depth == 1 and self._at.kind == "around":
            self.keep_view(self._at.center, event.whole)
        self.filter_bar.set_count(len(view.nodes), len(event.whole.nodes))
        if not self._shown:
            self.has_read()
        self._draw_canvas()
        self._draw_head()

    # --- drawing --------------------------------------------------------------------------------------------

    def _draw_canvas(self) -> None:
        view = self._view
        if view is None:
            return
        at = self._at.key
        afresh, self._drawn = at != self._drawn, at
        chosen = self._chosen_at.get(at, self._at.center) if afresh else self.canvas.chosen
        draw = draw_path if self._at.kind == "path" else draw_neighbourhood

        def drawn(width: int, height: int, key: str) -> Picture:
            return draw(view, width, height, chosen=key)

        self.canvas.show(drawn, chosen, afresh=afresh)
        self.show_detail(self.canvas.chosen)
        self.refresh_bindings()

    def _draw_head(self) -> None:
        at = self._at
        if at.kind == "around":
            draw = partial(around_line, self.label(at.center), self._depth, self._view, self._hidden)
        elif at.kind == "path":
            draw = partial(path_line, self.label(at.center), self.label(at.other), self._view)
        elif at.kind == "members":
            title, members = self._groups.get(at.key, ("", ()))
            draw = partial(members_line, title, len(members))
        else:
            draw = partial(header_line, self._sort)
        self.query_one("#graph-head", StatusLine).show(draw)

    def portrait(self, key: str) -> Portrait:
        """Return all that is known so far about an entity."""
        view = self._entity_views.get(key)
        nodes = (*(view.nodes if view is not None else ()), *(self._view.nodes if self._view else ()))
        node = next((each for each in nodes if each.id == key), None) or node_of(key, self.row(key))
        missing = view is None and key in self._entity_views
        return Portrait(node, self._view if missing else view, self.known(key), missing or not node.known)

    def show_detail(self, key: str) -> None:
        if not key:
            self.detail.show(lambda _width: ())
        elif key.startswith(GROUP):
            title, members = self._members(key)
            nodes = [self._node(each) for each in members]
            self.detail.show(partial(group_lines, title, nodes), key)
        else:
            self.detail.show(partial(entity_lines, self.portrait(key)), key)
            self.ask_about_entity(key, soon=not self._at.is_drawing)
            self._find_item()

    def _node(self, key: str) -> GraphNode:
        nodes = self._view.nodes if self._view is not None else ()
        return next((each for each in nodes if each.id == key), None) or node_of(key, self.row(key))

    def _members(self, group: str) -> tuple[str, tuple[str, ...]]:
        members = members_of(self._view, group) if self._view is not None else ()
        return f"{len(members):,} around {self.label(self._at.center)}", tuple(members)

    def _find_item(self) -> None:
        """Read the fact or relation that led here, once it is there to be read."""
        if self._item_wanted and self._entity_views.get(self._at.center) is not None:
            wanted, self._item_wanted = self._item_wanted, ""
            link = self.portrait(self._at.center).link_of(wanted)
            if self.here() == self._at.center and link:
                self.query_one(EntityDetail).choose(link)
                self.action_read_entity()

    def know_entity(self, key: str) -> None:
        if key == self.here():
            self.show_detail(key)
            self.refresh_bindings()

    def know(self, memory: Memory) -> None:
        self.know_entity(memory.id)

    # --- walking --------------------------------------------------------------------------------------------

    @on(DrawingCanvas.Moved)
    def _walked(self, event: DrawingCanvas.Moved) -> None:
        event.stop()
        if len(self._chosen_at) >= _MOST_CHOSEN:
            self._chosen_at.clear()
        self._chosen_at[self._at.key] = event.key
        self.show_detail(event.key)
        self.refresh_bindings()

    @on(DrawingCanvas.Opened)
    def _opened(self, event: DrawingCanvas.Opened) -> None:
        event.stop()
        self.go_in(event.key)

    def go_in(self, key: str) -> None:
        """Go from a row or a box to its drawing, from a group to its members, from the centre to what it knows."""
        if key.startswith(GROUP):
            place = GraphPlace("members", self._at.center, key)
            self._groups[place.key] = self._members(key)
            self.visit(place, "")
        elif self._at.kind == "around" and key == self._at.center:
            self.action_read_entity()
        elif key:
            self.walk_to(key)

    @on(Detail.Followed)
    def _followed_here(self, event: Detail.Followed) -> None:
        edge = self.edge(event.link)
        if edge is not None:
            event.stop()
            event.prevent_default()
            self.walk_to(far_end(edge, self.here()))
        elif self.portrait(self.here()).fact(event.link) is not None:
            event.stop()
            event.prevent_default()
            self.open_item(event.link)

    def edge(self, link: str) -> GraphEdge | None:
        """Return the relation of the entity under the cursor that a link of the detail means."""
        return self.portrait(self.here()).edge(link) if self.here() else None

    @on(FilterInput.Passed)
    def _passed_on(self, event: FilterInput.Passed) -> None:
        if self._at.is_drawing:
            event.stop()
            event.prevent_default()
            getattr(self.canvas, f"action_{event.action}")()

    @on(StatusLine.Pressed, "#graph-head")
    def _head_pressed(self, event: StatusLine.Pressed) -> None:
        event.stop()
        if event.link.startswith(SORT_LINK):
            self._sort_by(event.link.removeprefix(SORT_LINK))

    def _sort_by(self, key: str) -> None:
        self._sort = key
        self._arrange()
        self._draw_head()

    # --- commands -------------------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer only what means something for what is shown and where the cursor is."""
        here = self.here()
        if action == "change_hops":
            return self._at.kind == "around"
        if action == "sort_table":
            return not self._at.is_drawing and not self.is_writing
        if action in ("switch_view", "find_way"):
            return bool(here) and not self.is_writing
        if action == "read_entity":
            return bool(here) and not (self.detail.has_focus or self.is_writing)
        return super().check_action(action, parameters)

    def action_switch_view(self) -> None:
        if self._at.is_drawing:
            row = self._at.center if self.here().startswith(GROUP) else self.here()
            self.visit(GraphPlace("table", row), "")
        else:
            self.visit(GraphPlace("around", self.here()), "")

    def action_change_hops(self) -> None:
        self._depth = 3 - self._depth
        self._read_again()
        self._draw_head()

    def action_sort_table(self) -> None:
        keys = list(SORTS)
        self._sort_by(keys[(keys.index(self._sort) + 1) % len(keys)])

    async def action_find_way(self) -> None:
        from workbench.tui.screens.pick import PickScreen

        start = self._at.center if self.here().startswith(GROUP) else self.here()

        def found(goal: str | None) -> None:
            if goal:
                self.visit(GraphPlace("path", start, goal), "")

        self.app.push_screen(
            PickScreen(self.bench, f"From {self.label(start)} to whom or what?", (start,)), found
        )

    async def action_step_back(self) -> None:
        await self.app.run_action("go_back")

    def action_read_entity(self) -> None:
        self.add_class("-reading")
        detail = self.query_one(EntityDetail)
        detail.choose_first()
        self.focus_once_laid_out(detail)

    def action_leave(self) -> None:
        """Come back by one step: out of the detail, the filter, then from the drawing to the table."""
        out = self.has_class("-zoom") or self.has_class("-reading") or self.detail.has_focus
        if out or not (self._at.is_drawing or self._at.kind == "members") or self.filter_bar.text:
            super().action_leave()
        elif self._at.kind == "around":
            self.visit(GraphPlace("table", self._at.center), "")
        else:
            self.visit(GraphPlace("around", self._at.center), "")


def _label_in(view: GraphView, key: str) -> str:
    return next((node.label for node in view.nodes if node.id == key), key)
