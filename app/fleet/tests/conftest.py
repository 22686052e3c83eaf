import time

import pytest

from app.fleet import services
from twin import demo
from twin.host import TwinHost


@pytest.fixture(autouse=True)
def _nothing_parsed():
    """Each test starts like a new process."""
    services.forget()


@pytest.fixture(scope="session")
def twins(tmp_path_factory):
    """The demo fleet's nodes as hosts, by name."""
    folder = tmp_path_factory.mktemp("twins")
    begun = time.time()
    demo.make(folder, begun)
    return {name: TwinHost(demo.state_path(folder, name), clock=lambda: begun, sleep=lambda _: None) for name in demo.node_names()}
