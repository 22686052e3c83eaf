import pytest

from app.fleet.models import Situation
from app.runs.models import Run
from conftest import SHARED_DATABASE
from tests.faults.people import BLANK, PHRASE, Person, hidden
from tests.faults.stack import ALL, Stack, until


class Incident:
    """The incident on a running stack, walked by ann and approved by bob."""

    def __init__(self, stack: Stack) -> None:
        self.stack = stack
        self.ann, self.bob = Person(stack.port, "ann", "operator"), Person(stack.port, "bob", "approver")

    def walk_to_execute(self) -> None:
        self._walk_to_plan()
        self.walk_from_plan()

    def walk_to_confirmed(self) -> None:
        """Up to the step that waits for bob."""
        self._walk_to_plan()
        self._walk_to_approval()

    def person(self, name: str, role: str, team: str = "") -> Person:
        """Somebody else, who looks at the same run."""
        made = Person(self.stack.port, name, role, team)
        made.run = self.ann.run
        return made

    def _walk_to_plan(self) -> None:
        found = until(lambda: Situation.objects.filter(slug="wwid-mismatch").first(), "no report came")
        self.ann.begin(found.pk)
        self.bob.run = self.ann.run
        self.ann.does("choose", value=BLANK)
        self.ann.does("check")

    def _walk_to_approval(self) -> None:
        self.ann.does("plan")
        self.stands("confirm", "open")
        self.ann.does("confirm", text=PHRASE)

    def walk_from_plan(self) -> None:
        """A plan, its confirmation and its approval: up to the step that runs the command."""
        self._walk_to_approval()
        self.bob.does("approve", plan_digest=hidden(self.bob.get(self.bob.run), "plan_digest"))
        self.stands("replace", "open")

    def execute(self) -> None:
        self.ann.does("execute")

    @property
    def row(self) -> Run:
        return Run.objects.get(pk=int(self.ann.run.strip("/").split("/")[-1]))

    def stands(self, *wanted: str) -> None:
        """Wait until the run stands at one of these: a step and a status, or only a status."""

        def so() -> bool:
            return set(wanted) <= {self.row.step, self.row.status}

        try:
            until(so)
        except AssertionError:
            row = self.row
            raise AssertionError(f"The run stands at {row.step}, {row.status}, and not at {wanted}: {row.here.note}") from None


@pytest.fixture
def committed_name():
    """The same for each test here, so that the portal's processes are all forked in one environment."""
    return f"{SHARED_DATABASE}_faults"


@pytest.fixture
def incident(request, ground, committed_db, tmp_path):
    """`replace_seconds` is how long the node's command takes; its effect is in the middle of them. Parametrise indirectly to change it."""
    stack = Stack(ground, committed_db, tmp_path, getattr(request, "param", 1.2))
    try:
        stack.start("valkey", "web")
        until(stack.answers, "web never came up", 120)
        stack.start(*(name for name in ALL if name != "web"))
        yield Incident(stack)
    finally:
        stack.end()
