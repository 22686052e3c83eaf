import pytest

from app.nodes.tests.cast import Agent, through


@pytest.fixture
def agent(db, client):
    """An enrolled agent of node oss01."""
    agent = Agent(through(client))
    assert agent.enrol()[0] == 200
    return agent
