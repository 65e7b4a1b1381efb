"""The walk: the steps from loading data to taking the release away, and the page around them."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from shoal import registry
from shoal.data._plain_text import counted
from shoal.errors import ShoalError, WrongUse
from shoal.option_names import as_typed
from shoal.recipe import Recipe
from shoal.report import wording
from shoal.report.compiled_templates import templates as compiled
from shoal.studio.faults import Fault, faults_of
from shoal.studio.jobs import Job
from shoal.studio.method_offers import of_baskets
from shoal.studio.page_words import page_words
from shoal.studio.sitting import Sitting
from shoal.studio.state import Studio

if TYPE_CHECKING:
    from jinja2 import Environment

STEPS = {
    "data": "Data",
    "roles": "Roles",
    "hierarchies": "Hierarchies",
    "promise": "Promise",
    "method": "Method",
    "run": "Run",
    "release": "Release",
    "compare": "Compare",
    "take-away": "Take away",
}
"""The steps in order; each is in a module of its own, ``step_<name>``."""

Act = Mapping[str, Any]
"""What a user did on the page: ``do``, ``data``, ``value`` and ``form``, as `board.js` sends it."""

Handler = Callable[["Walk", Act], Awaitable[None]]


@cache
def templates() -> "Environment":
    """The templates of all steps."""
    environment = compiled("shoal.studio")
    names = ("count", "listed", "number", "percent", "seconds", "shown")
    environment.filters |= {name: getattr(wording, name) for name in names}
    environment.filters |= {"ago": ago, "begun": begun, "duration": duration, "size": size}
    environment.filters |= {"counted": counted, "worded": page_words}
    return environment


def size(count: int) -> str:
    """A number of bytes in words.

    >>> size(900), size(2_500_000)
    ('900 bytes', '2.5 MB')
    """
    for unit, name in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if count >= unit:
            return f"{count / unit:.1f} {name}"
    return f"{count} bytes"


def duration(time: float) -> str:
    """About how long something takes, in words.

    >>> duration(0.4), duration(48.2), duration(130)
    ('1 second', '48 seconds', '2 minutes')
    """
    return counted(max(round(time), 1), "seconds") if time < 90 else counted(round(time / 60), "minutes")


def ago(moment: float) -> str:
    """How long ago a moment was, in words.

    >>> import time
    >>> ago(time.time() - 130)
    '2 minutes ago'
    """
    passed = time.time() - moment
    for unit, name in ((86_400, "days"), (3_600, "hours"), (60, "minutes")):
        if passed >= unit:
            return f"{counted(int(passed // unit), name)} ago"
    return "just now"


def begun(words: str) -> str:
    """A sentence with its first letter in upper case; the rest stays as it is.

    >>> begun("a finer ZIP breaks k-anonymity")
    'A finer ZIP breaks k-anonymity'
    """
    return f"{words[:1].upper()}{words[1:]}"


def sentence_of(error: Exception) -> str:
    """What went wrong, in a sentence for the page; a fault of Shoal itself is logged too, and the page goes on."""
    if isinstance(error, ShoalError):
        return page_words(" ".join(str(error).split()))
    logging.getLogger("shoal").exception("a fault of the studio", exc_info=error)
    said = f"{type(error).__name__}: {error}"
    return f"This is a fault in Shoal, not yours ({said}). Undo the last change, and please report it."


def step_module(step: str) -> ModuleType:
    """The module of a step."""
    return import_module(f"shoal.studio.step_{step.replace('-', '_')}")


def warm_up() -> None:
    """Load beforehand what the first click on a step would have to wait for."""
    for family in ("method", "model"):
        registry.load_all(family)
    for step in STEPS:
        step_module(step)
        templates().get_template(f"{step.replace('-', '_')}.html.j2")


@dataclass(slots=True)
class Walk:
    """One open page: a sitting, the step that it shows, and what only this page knows."""

    studio: Studio
    sitting: Sitting
    step: str = "data"
    view: dict[str, Any] = field(default_factory=dict)
    """What is open or searched for on this page; nothing that must survive it."""
    notice: tuple[str, str] | None = None  # the message at the top of the page: its kind and the sentence
    shown: int = -1
    faults: list[Fault] = field(default_factory=list)  # what is known to be wrong with the settings
    _answers: dict[str, tuple[Any, Any]] = field(default_factory=dict)
    _asking: set[asyncio.Task[None]] = field(default_factory=set)

    def later(self, name: str, look: Callable[..., Any], *arguments: Any) -> Any:
        """The answer to a question, or None until it arrives; then the page is painted again.

        A question that fails is answered by ``{"error": …}``.
        """
        known = self._answers.get(name)
        if known is not None and known[0] == arguments:
            return known[1]
        self._answers[name] = (arguments, None)

        async def ask() -> None:
            try:
                answer = await self.studio.queries.ask(look, *arguments)
            except ShoalError as error:
                answer = {"error": sentence_of(error)}
            if self._answers[name][0] == arguments:
                self._answers[name] = (arguments, answer)
                self.shown = -1

        task = asyncio.get_running_loop().create_task(ask())
        self._asking.add(task)
        task.add_done_callback(self._asking.discard)
        return None

    @property
    def recipe(self) -> Recipe:
        """The current recipe. Raises `WrongUse` if there is no data yet."""
        recipe = self.sitting.recipe
        if recipe is None:
            raise WrongUse("Load data first.")
        return recipe

    def change(self, said: str, **parts: Any) -> None:
        """Change parts of the recipe."""
        self.sitting.change(self.recipe.model_copy(update=parts), said)

    async def act(self, act: Act) -> None:
        """Do what the user asked for; if that fails, the notice says why."""
        self.notice = None
        name = str(act["do"])
        handlers: dict[str, Handler] = {**ACTIONS, **step_module(self.step).ACTIONS}
        try:
            with as_typed():
                if name in handlers:
                    await handlers[name](self, act)
        except Exception as error:
            self.notice = ("broken", sentence_of(error))

    async def html(self) -> str:
        """The page as it is now."""
        if self.sitting.recipe is None:
            self.step = "data"
        self.sitting.visit(self.step)
        self.shown = self.sitting.revision
        self.faults = await self._faults()
        shell = {
            "walk": self,
            "steps": self.steps(),
            "titles": STEPS,
            "current": self.current(),
            "running": [job for job in self.studio.runs(self.sitting) if job.active],
            "baskets": self.sitting.recipe is not None and of_baskets(self.recipe),
            "history": self.history(),
            "following": self.following(),
            "faults": self.faults,
        }
        page = templates().get_template(f"{self.step.replace('-', '_')}.html.j2")
        try:
            with as_typed():
                body = page.render(**shell, **await step_module(self.step).facts(self))
        except Exception as error:
            self.notice, body = ("broken", sentence_of(error)), ""
        return templates().get_template("shell.html.j2").render(**shell, body=Markup(body))

    async def _faults(self) -> list[Fault]:
        """What is wrong with the settings; nothing where the data cannot be read, as the step itself says so."""
        if self.sitting.recipe is None:
            return []
        try:
            found, _ = await self.studio.seen(self.sitting, self.recipe)
        except ShoalError:
            return []
        return faults_of(self.recipe, found)

    def history(self) -> list[dict[str, Any]]:
        """The last changes, the newest first."""
        found = list(enumerate(self.sitting.recipes))[-30:]
        return [{"place": place, "said": one["said"], "at": one["at"]} for place, one in reversed(found)]

    def current(self) -> Job | None:
        """The run to show: the one that was opened, one with the current settings, or the last that succeeded."""
        done = [job for job in self.studio.runs(self.sitting) if job.state == "done"]
        opened = [job for job in done if job.number == self.view.get("run")]
        fresh = [job for job in done if not self.stale(job)]
        alone = [job for job in done if "series" not in job.task]
        return next(iter([*opened, *fresh, *alone, *done]), None)

    def stale(self, job: Job | None) -> bool:
        """Whether a run was made with other settings than the current ones."""
        return job is not None and job.task["recipe"] != self.sitting.recipes[self.sitting.place]["recipe"]

    def following(self) -> str:
        """The step after this one."""
        keys = list(STEPS)
        place = keys.index(self.step) + 1
        return keys[place] if place < len(keys) else ""

    def steps(self) -> list[dict[str, str]]:
        """Every step with its state and a few words about it."""
        recipe = self.sitting.recipe
        states = dict.fromkeys(STEPS, ("todo", "")) if recipe is None else self._states(recipe)
        if recipe is None:
            states["data"] = ("now", "no data yet")
        return [
            {"key": key, "title": title, "state": states[key][0], "said": states[key][1]}
            for key, title in STEPS.items()
        ]

    def _states(self, recipe: Recipe) -> dict[str, tuple[str, str]]:
        baskets = of_baskets(recipe)
        roles = recipe.roles
        runs = self.studio.runs(self.sitting)
        job = self.current()
        fresh = [one for one in runs if one.active or (one.state == "done" and not self.stale(one))]
        last = next(iter([*fresh, *runs]), None)
        run = ("todo", "not run yet")
        if last is not None:
            words = {
                "done": "done",
                "failed": "failed",
                "canceled": "canceled",
                "interrupted": "interrupted",
            }
            run = (
                "done" if last.state == "done" else "now" if last.active else "fault",
                words.get(last.state, "running"),
            )
        if run[0] == "done" and self.stale(last):
            run = ("stale", "settings changed since")
        release = ("todo", "nothing yet")
        if job is not None:
            release = ("stale", "older settings") if self.stale(job) else ("done", "promises kept")
        settings = {
            "roles": f"{len(roles.sensitive)} secret"
            if baskets
            else f"{len(roles.quasi)} known, {len(roles.sensitive)} secret",
            "hierarchies": counted(len(recipe.hierarchies), "trees")
            if recipe.hierarchies
            else "none, optional",
            "promise": ", ".join(_promise_words(recipe)),
            "method": str(recipe.method["name"]),
        }
        wrong = {one.step: ("fault", one.short) for one in reversed(self.faults)}
        seen = {step: "done" if step in self.sitting.visited else "todo" for step in settings}
        return {
            "data": ("done", self.sitting.name),
            **{step: wrong.get(step, (seen[step], said)) for step, said in settings.items()},
            "run": run,
            "release": release,
            "compare": (
                "done" if len([one for one in runs if one.state == "done"]) > 1 else "todo",
                f"{counted(len(runs), 'runs')}",
            ),
            "take-away": (
                "done" if release[0] == "done" else release[0],
                "ready" if release[0] == "done" else release[1],
            ),
        }


def _promise_words(recipe: Recipe) -> list[str]:
    """The promise in short, such as ``k 10``."""
    from shoal.studio.method_offers import kind_of, promise_fields

    fields = [
        name for name in promise_fields(kind_of(recipe)) if name not in ("population", "distance", "promises")
    ]
    found = [
        f"{name.replace('_', ' ')} {recipe.method[name]:g}"
        for name in fields
        if recipe.method.get(name) is not None
    ]
    more = recipe.method.get("promises") or ()
    return found + [str(one["model"]) for one in more]


async def _go(walk: Walk, act: Act) -> None:
    """Show another step; ``place`` ends with its name."""
    step = str(act.get("place", "")).rstrip("/").rpartition("/")[2]
    if step in STEPS:
        walk.step = step


async def _undo(walk: Walk, act: Act) -> None:
    walk.sitting.go(-1)


async def _redo(walk: Walk, act: Act) -> None:
    walk.sitting.go(1)


async def _back_to(walk: Walk, act: Act) -> None:
    walk.sitting.go(int(act["data"]["entry"]) - walk.sitting.place)


async def _refused(walk: Walk, act: Act) -> None:
    walk.notice = ("broken", str(act.get("value", "")))


async def _open_run(walk: Walk, act: Act) -> None:
    walk.view["run"] = int(act["data"]["run"])
    walk.step = "release"


async def _cancel(walk: Walk, act: Act) -> None:
    walk.studio.jobs.cancel(walk.sitting, int(act["data"]["run"]))


async def _settings_of(walk: Walk, act: Act) -> None:
    """Make the settings of a run the current ones."""
    job = walk.studio.jobs.find(walk.sitting, int(act["data"]["run"]))
    walk.sitting.change(Recipe(**job.task["recipe"]), f"Settings of run {job.number}")


ACTIONS: dict[str, Handler] = {
    "go": _go,
    "undo": _undo,
    "redo": _redo,
    "back-to": _back_to,
    "refused": _refused,
    "open-run": _open_run,
    "cancel": _cancel,
    "settings-of": _settings_of,
}
"""What can be done on every page."""
