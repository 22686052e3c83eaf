"""One portal and one image for all tests of the lab; each module boots the machine it needs.

They take minutes and most of a machine, so they run when they are asked for: `./run lab test`.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lab import image
from lab.machine import Machine
from lab.portal import Portal
from lab.stage import Stage
from lab.visitor import Visitor

HERE = Path(__file__).parent


def why_not(config: pytest.Config) -> str:
    if "lab" not in config.option.markexpr:
        return "A real node takes minutes to boot and to heal: `./run lab test` runs these."
    if why := image.lacking():
        return why
    if image.find(series(config)) is None:
        return "The node's image is not built: `./run lab build` makes it, which takes some minutes."
    return ""


def series(config: pytest.Config) -> str:
    return config.getoption("--zfs")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--zfs", default="2.1", help="which OpenZFS the lab's node runs")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    ours = [item for item in items if HERE in item.path.parents and item.path.name.startswith("test_node_")]
    why = why_not(config) if ours else ""
    for item in ours:
        item.add_marker(pytest.mark.lab)
        if why:
            item.add_marker(pytest.mark.skip(reason=why))


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


@pytest.fixture(scope="module")
def boot(made: image.Image) -> Iterator[Callable[..., Machine]]:
    """Makes and boots machines; all end with the module."""
    machines = []

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
    """The module's node, which has met nobody yet: `NODE` names it, `DISKS` says how many it has."""
    stage = Stage(portal, boot(request.module.NODE, request.module.DISKS))
    stage.trust()
    stage.give_the_disks_a_verdict()
    return stage
