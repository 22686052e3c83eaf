import http.client
import threading
import time

import pytest

from app.nodes.tests.cast import Agent


@pytest.fixture
def portal(committed_db):
    """The whole door under a real uvicorn; yields its port. Database and Valkey are real, so is COMMIT."""
    import uvicorn

    from app.asgi import application

    server = uvicorn.Server(uvicorn.Config(application, port=0, log_level="warning", timeout_graceful_shutdown=1, proxy_headers=False))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield server.servers[0].sockets[0].getsockname()[1]
    server.should_exit = True
    thread.join()


@pytest.fixture
def wire(portal):
    """`wire(method, path, body, headers) -> (status, headers, body)` over a connection of its own."""

    def ask(method, path, body=b"", headers=()):
        # The first request imports every view: on a busy machine that alone can take longer than any answer.
        connection = http.client.HTTPConnection("127.0.0.1", portal, timeout=60)
        connection.request(method, path, body, dict(headers))
        response = connection.getresponse()
        answer = response.read()
        connection.close()
        return response.status, dict(response.headers), answer

    return ask


@pytest.fixture
def agent(wire):
    agent = Agent(lambda path, body, headers: wire("POST", path, body, headers))
    assert agent.enrol()[0] == 200
    return agent
