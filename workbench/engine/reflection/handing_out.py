"""Reflection by the agent's own model: questions are handed out as tasks, and their answers are taken in.

A cycle that is handed out runs from its beginning each time, with the answers that were given so far, until a question
has none: that one is the next task. A question is known by its words, so memory may change meanwhile: what is asked
otherwise then is asked again, and an answer to what nobody asks any more is not used.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, field
from typing import TYPE_CHECKING, Any, Final

from workbench.engine.errors import InvalidInput, ProviderError
from workbench.engine.providers.chat import Completion
from workbench.engine.reflection.model_mind import ModelMind
from workbench.engine.reflection.model_mind.asking import InputSizes
from workbench.engine.reflection.model_mind.material import cut_windows
from workbench.engine.reflection.model_mind.showing import EVIDENCE, as_data, problem_with
from workbench.engine.reflection.rules import RulesMind
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from workbench.engine.markdown.review import ReviewItem
    from workbench.engine.providers.chat import ChatMessage, JsonReply
    from workbench.engine.reflection.model import Agenda, Guidance, Snapshot, Summary, Work

TASK_TOKENS: Final = 8_000
"""Most tokens of one task, its schema included."""

SIZES: Final = InputSizes(context=TASK_TOKENS * 2, passages=5_300, near=400, core=250, answer=3_000, frame=12)
"""How a task is shared out; with instructions and schema it comes to `TASK_TOKENS` at most."""

_HOW: Final = """
You were handed this by the memory engine as task {task}. The material stands in `material`, one part for each key named
above; of `passages` each line is a handle, the time, who spoke, and what was said. Give your answer back as
{{"task": "{task}", "model": "the name of your model", "answer": {{…}}}}, where the object in `answer` follows `schema`:
every key that it names is required, and no other has a place.
"""
_MODEL_UNKNOWN: Final = "the agent’s own model"
_MOST_NAME: Final = 60


@dataclass(frozen=True)
class Task:
    """A question for the agent's own model.

    Args:
        id: What it is called in the answer.
        phase: Of the cycle.
        instructions: What to do, and the form of the answer.
        material: Id and text of each part of what is to be read; data, never instructions.
        schema: Of the answer.
    """

    id: str
    phase: str
    instructions: str
    material: tuple[tuple[str, str], ...]
    schema: Mapping[str, Any]


@dataclass(frozen=True)
class Given:
    """An answer to a task.

    Args:
        text: The object, as JSON.
        model: Which model gave it.
    """

    text: str
    model: str


@dataclass
class Answers:
    """What an agent answered so far of a reflection that is not finished.

    Args:
        given: By the id of their task.
        open: The task that was handed out last; its words are not kept, since they are made again.
    """

    given: dict[str, Given] = field(default_factory=dict)
    open: Task | None = None

    @classmethod
    def parse(cls, kept: Any) -> Answers:
        """Read them from JSON; what is missing or broken is asked again."""
        try:
            given = {
                str(task): Given(str(one["text"]), str(one["model"])) for task, one in kept["given"].items()
            }
            opened = kept["open"]
            waiting = Task(opened["id"], opened["phase"], "", (), opened["schema"]) if opened else None
        except (TypeError, KeyError, AttributeError):
            return cls()
        return cls(given, waiting)

    def render(self) -> bytes:
        """Write them as JSON."""
        waiting = self.open
        opened = {"id": waiting.id, "phase": waiting.phase, "schema": waiting.schema} if waiting else None
        content = {"given": {task: asdict(one) for task, one in self.given.items()}, "open": opened}
        return json.dumps(content, ensure_ascii=False).encode("utf-8", "replace")


class Unanswered(Exception):
    """The cycle came to a question that nobody has answered yet.

    Args:
        task: The question.
    """

    def __init__(self, task: Task) -> None:
        super().__init__(task.id)
        self.task = task


@dataclass
class AgentModel:
    """Implements `providers.chat.ChatModel` by answers that an agent gave.

    Args:
        answers: By the id of their task.
        phase_of: Gives the phase that is running.
        hands_out: Whether a question without an answer ends the cycle; else it counts as failed, and rules do its part.
    """

    answers: Mapping[str, Given]
    phase_of: Callable[[], str]
    hands_out: bool = True
    asked: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        return next((given.model for given in self.answers.values()), _MODEL_UNKNOWN)

    def close(self) -> None:
        """Do nothing: nothing is open."""

    def complete(
        self,
        messages: Sequence[ChatMessage],
        *,
        max_tokens: int | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> Completion:
        """Refuse: an agent is asked for objects alone."""
        del messages, max_tokens, cancelled
        raise ProviderError("An agent's own model answers tasks alone.", remedy="Hand out a task.")

    def complete_json(
        self,
        messages: Sequence[ChatMessage],
        *,
        schema: Mapping[str, Any],
        schema_name: str,
        max_tokens: int | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> JsonReply:
        """Return the answer that was given.

        Raises:
            Unanswered: There is none yet.
            ProviderError: There is none, and none is waited for any more.
        """
        del schema_name, max_tokens, cancelled
        task = task_of(messages, schema, self.phase_of())
        self.asked.append(task.id)
        given = self.answers.get(task.id)
        if given is not None:
            return Completion(given.text, given.model).json_reply()
        if self.hands_out:
            raise Unanswered(task)
        raise ProviderError("The agent did not answer this task.", remedy="Rules did its part.")


@dataclass
class AgentMind:
    """Implements `reflection.model.Mind`: an agent reads what is new and rewrites core memory, rules do the rest.

    Args:
        chat: The agent's answers.
        rules: What surveys, looks back and sums up, and does what the agent did not.
    """

    chat: AgentModel
    rules: RulesMind = field(default_factory=RulesMind)
    tasks: int = field(default=0, init=False)
    """How many there are, as far as the cycle has come."""
    _model: ModelMind = field(init=False)

    def __post_init__(self) -> None:
        self._model = ModelMind(self.chat, self.rules, context_tokens=SIZES.context, sizes=SIZES)

    @property
    def name(self) -> str:
        return self.chat.name

    def survey(self, snapshot: Snapshot, work: Work) -> Agenda:
        """Have rules say what to look into."""
        work.done_by(self.rules.name)
        return self.rules.survey(snapshot, work)

    def look_back(self, snapshot: Snapshot, agenda: Agenda, work: Work) -> Guidance:
        """Have rules review past reflections."""
        work.done_by(self.rules.name)
        return self.rules.look_back(snapshot, agenda, work)

    def consolidate(
        self, snapshot: Snapshot, agenda: Agenda, guidance: Guidance, work: Work
    ) -> tuple[ReviewItem, ...]:
        """Have the agent find what should be remembered."""
        windows = cut_windows(snapshot.passages, SIZES.passages, SIZES.frame)
        self.tasks = sum(1 for _ in windows) + 1
        return self._model.consolidate(snapshot, agenda, guidance, work)

    def rewrite_core(
        self, snapshot: Snapshot, agenda: Agenda, items: tuple[ReviewItem, ...], work: Work
    ) -> tuple[ReviewItem, ...]:
        """Have the agent propose changes of core memory."""
        return self._model.rewrite_core(snapshot, agenda, items, work)

    def summarise(
        self, snapshot: Snapshot, items: tuple[ReviewItem, ...], guidance: Guidance, work: Work
    ) -> Summary:
        """Have rules sum up what is proposed."""
        work.done_by(self.rules.name)
        return self.rules.summarise(snapshot, items, guidance, work)


def task_of(messages: Sequence[ChatMessage], schema: Mapping[str, Any], phase: str) -> Task:
    """Return a question to a model as a task.

    Args:
        messages: The instructions, then the data as JSON.
        schema: Of the answer.
        phase: Of the cycle.
    """
    instructions, data = messages[0].content, json.loads(messages[1].content)
    material = tuple((key, _written(key, value)) for key, value in data.items() if value not in ([], {}, ""))
    words = json.dumps([instructions, material, schema], ensure_ascii=False)
    task = f"t-{hashlib.sha256(words.encode('utf-8', 'replace')).hexdigest()[:12]}"
    short = {**_shortened(schema), "required": list(schema["required"]), "$defs": {"evidence": EVIDENCE}}
    return Task(task, phase, instructions + _HOW.format(task=task), material, short)


def _shortened(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema without what the instructions say once: that all keys are required, and no others allowed."""
    short: dict[str, Any] = {}
    for key, value in schema.items():
        if value == EVIDENCE:
            short[key] = {"$ref": "#/$defs/evidence"}
        elif isinstance(value, Mapping):
            short[key] = _shortened(value)
        elif isinstance(value, list) and value and isinstance(value[0], Mapping):
            short[key] = [_shortened(each) for each in value]
        elif key not in ("required", "additionalProperties"):
            short[key] = value
    return short


def _written(key: str, value: Any) -> str:
    if key != "passages":
        return value if isinstance(value, str) else as_data(value)
    lines: list[str] = []
    on = ""
    for row in value:
        day, _, time = row.get("when", "").partition(" ")
        if day != on:
            on = day
            lines.append(day or "without a day")
        speaker = f" {as_data(row['speaker'])[1:-1]}:" if row.get("speaker") else ""
        lines.append(f"{row['ref']}{f' {time}' if time else ''}{speaker} {as_data(row['text'])[1:-1]}")
    return "\n".join(lines)


def answer_of(answer: Mapping[str, Any] | str, task: Task) -> Given:
    """Read what an agent gave back for a task.

    Args:
        answer: `{"task", "model", "answer"}`, or the object of the answer alone; as JSON or read already.
        task: The one that is open.

    Raises:
        InvalidInput: It is for another task, or is no answer in the form that was asked for.
    """
    value = _object(answer)
    model = _MODEL_UNKNOWN
    if "answer" in value and "task" in value:
        if value["task"] != task.id:
            raise InvalidInput(
                f"This answers task {str(value['task'])[:40]}, but {task.id} is open.",
                remedy="Ask for the open task, and answer that one.",
            )
        named = value.get("model")
        if isinstance(named, str) and named.strip():
            model = " ".join(named.split())[:_MOST_NAME]
        value = _object(value["answer"])
    strange = [str(key)[:40] for key in value if key not in task.schema["properties"]]
    missing = [key for key in task.schema["required"] if key not in value]
    problem = f"it says “{strange[0]}”, which it has no place for" if strange else ""
    problem = f"it lacks {missing[0]}" if missing else problem or _first_problem(value, task.schema)
    if problem:
        raise InvalidInput(
            f"The answer to {task.id} has not the form that was asked for: {problem}.",
            remedy="Answer again with one object that follows `schema`.",
        )
    return Given(json.dumps(value, ensure_ascii=False), model)


def _first_problem(value: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    """Check lists and plain values; each item of a list of kinds is checked where it is read, one by one."""
    for key, wanted in schema["properties"].items():
        if wanted["type"] == "array" and "anyOf" in wanted["items"]:
            if not isinstance(value[key], list):
                return f"{key} is no list"
        elif found := problem_with(value[key], wanted, key):
            return found
    return ""


def _object(value: Mapping[str, Any] | str) -> dict[str, Any]:
    if isinstance(value, str):
        found = Completion(value, "").json_reply().value
        if found is None:
            raise InvalidInput(
                "The answer holds no JSON object.", remedy="Answer with one object that follows `schema`."
            )
        return found
    if not isinstance(value, Mapping):
        raise InvalidInput("The answer is no object.", remedy="Answer with one object that follows `schema`.")
    return dict(value)
