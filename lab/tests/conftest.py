"""One portal and one image for all tests of the lab; each module boots the machine it needs.

They take minutes and most of a machine, so they run when they are asked for: `./run lab test`.
"""

import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from lab import image, last_words
from lab.machine import Machine
from lab.portal import Portal
from lab.stage import Stage
from lab.visitor import Visitor

HERE = Path(__file__).parent
BUILD = "`./run lab build` makes it, which takes 9 to 65 minutes on two cores, by how busy they are"
# What each file takes on two cores with some other work, and the order of worth: where time is short, the last are left out.
MINUTES = {
    "test_node_blink.py": 8,
    "test_node_drift.py": 6,
    "test_node_in_place.py": 10,
    "test_node_take_over.py": 15,
    "test_node_damaged.py": 12,
    "test_node_finish.py": 9,
    "test_node_auxiliary.py": 6,
    "test_node_rename.py": 5,
    "test_node_wipe.py": 8,
    "test_node_scrub.py": 30,
    "test_node_power.py": 8,
    "test_node_diverged.py": 12,
    "test_node_dry_run.py": 9,
    "test_node_mmp.py": 4,
    "test_node_resume.py": 22,
    "test_node_slow.py": 4,
    "test_node_shared.py": 20,
    "test_node_by_hand.py": 12,
    "test_node_awake.py": 2,
    "test_node_tuning.py": 16,
    "test_node_modes.py": 8,
    "test_node_scenes.py": 15,
    "test_node_install.py": 5,
    "test_node_lost_log.py": 7,
    "test_node_boot_member.py": 7,
    "test_node_kinds.py": 15,
    "test_node_multipath.py": 12,
    "test_node_collect.py": 20,
}
SLOWNESS_MIN = 0.7
NOT_SEEN = "This walk has not been seen green on a real node yet, so a red one would say nothing. `./run lab test` runs it."
# Written, and not yet seen green on a real node (docs/lab.md has how far they came): they run when they are asked for, and decide nothing.
NOT_YET: tuple[str, ...] = ()
# With a release that is named here only these files were seen green, and only these decide.
SEEN: dict[str, tuple[str, ...]] = {
    "2.0": (),
    "2.2": ("test_node_blink.py", "test_node_drift.py"),
    "2.4": (
        "test_node_blink.py",
        "test_node_drift.py",
        "test_node_in_place.py",
        "test_node_by_hand.py",
        "test_node_wipe.py",
        "test_node_boot_member.py",
        "test_node_resume.py",
        "test_node_shared.py",
        "test_node_tuning.py",
    ),
}


def why_not(config: pytest.Config) -> str:
    if why := image.lacking():
        return why
    if image.find(series(config)) is None:
        return f"The node's image is not built: {BUILD}."
    if "lab" not in config.option.markexpr:
        return (
            "A real node takes minutes to boot and to heal: `./run lab test` runs these, and .ci/run after all others while there is time."
        )
    return ""


def was_seen(file: str, release: str) -> bool:
    return file not in NOT_YET and file in SEEN.get(release, MINUTES)


def series(config: pytest.Config) -> str:
    return config.getoption("--zfs")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--zfs", default="2.1", help="which OpenZFS the lab's node runs")
    parser.addoption("--keep", type=Path, metavar="DIR", help="write what the nodes said at telling moments there, for test data")
    parser.addoption("--within", type=float, default=0, metavar="MINUTES", help="leave out the lab's files that would end later than that")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    walks = f"{HERE}/test_node_"
    ours = [item for item in items if str(item.path).startswith(walks)]
    why = why_not(config) if ours else ""
    for item in ours:
        item.add_marker(pytest.mark.lab)
        if why:
            item.add_marker(pytest.mark.skip(reason=why))
    order = {id(item): list(MINUTES).index(item.path.name) for item in ours}
    items.sort(key=lambda item: order.get(id(item), -1))


@dataclass
class Spent:
    """Of the time that the lab may take, and how many minutes were meant for the files that have run."""

    began: float
    meant: float = 0.0

    def minutes(self) -> float:
        return (time.monotonic() - self.began) / 60

    def slowness(self) -> float:
        """How much longer everything takes here than it was meant to, or how much less."""
        return max(SLOWNESS_MIN, self.minutes() / self.meant) if self.meant else 1.0


@pytest.fixture(scope="session")
def spent() -> Spent:
    return Spent(time.monotonic())


@pytest.fixture(scope="module", autouse=True)
def in_time(request: pytest.FixtureRequest, spent: Spent) -> Iterator[None]:
    """A file is left out whole: half a walk says nothing."""
    within, meant = request.config.getoption("--within"), MINUTES.get(request.path.name, 0)
    left, takes = within - spent.minutes(), meant * spent.slowness()
    if within and not was_seen(request.path.name, series(request.config)):
        pytest.skip(NOT_SEEN)
    if within and takes > left:
        pytest.skip(f"It takes about {takes:.0f} minutes here, and {left:.0f} of the {within:.0f} that the lab may take are left.")
    yield
    spent.meant += meant


@pytest.fixture(scope="session")
def made(request: pytest.FixtureRequest) -> image.Image:
    return image.find(series(request.config))


@pytest.fixture(scope="session")
def portal() -> Iterator[Portal]:
    running = Portal()
    yield running
    running.stop()


@pytest.fixture(scope="session")
def ann(portal: Portal) -> Visitor:
    """Lets nodes in, starts runs and acts."""
    return Visitor(portal, "ann")


@pytest.fixture(scope="session")
def bob(portal: Portal) -> Visitor:
    """Approves."""
    return Visitor(portal, "bob")


MACHINES = pytest.StashKey[list[Machine]]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show the state of its nodes beside a red test."""
    report = yield
    module = item.getparent(pytest.Module)
    if report.failed and module is not None:
        for machine in module.stash.get(MACHINES, []):
            report.sections.append((f"state of {machine.name}", last_words.of(machine.guest, machine.folder / "console.log")))
    return report


@pytest.fixture(scope="module")
def boot(made: image.Image, request: pytest.FixtureRequest) -> Iterator[Callable[..., Machine]]:
    """Makes and boots machines; all end with the module."""
    machines = request.node.stash.setdefault(MACHINES, [])

    def up(name: str, disks: int = 8, **settings) -> Machine:
        machine = Machine(f"test-{name}")
        machine.cut()
        machine.make(made, disks, host=name, **settings)
        machine.start(tied=True)
        machines.append(machine)
        return machine

    yield up
    for machine in machines:
        machine.cut()


@pytest.fixture(scope="module")
def stage(portal: Portal, boot: Callable[..., Machine], request: pytest.FixtureRequest) -> Stage:
    """The module's node, which has met nobody yet: `NODE` names it, `DISKS` says how many it has, `SETTINGS` what else it is made of."""
    settings = getattr(request.module, "SETTINGS", {})
    stage = Stage(portal, boot(request.module.NODE, request.module.DISKS, **settings), request.config.getoption("--keep"))
    stage.trust()
    stage.give_the_disks_a_verdict()
    return stage
