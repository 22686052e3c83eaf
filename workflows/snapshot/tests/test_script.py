"""The script under each shell: it asks what the agent's collectors ask, and its archive gives the captures that the agent would make."""

import shutil
from pathlib import Path

import pytest

from twin import scenarios
from workflows.snapshot import recorded, replay
from workflows.snapshot.tests import stage

OWN_ONLY = ("smartctl -i -n standby", "hdparm -C")  # what one of both asks in another way
MOVES = frozenset(("agent",))

pytestmark = pytest.mark.skipif(shutil.which("dash") is None, reason="the shells of the script are not here")
SHELLS = [name for name, words in stage.SHELLS.items() if shutil.which(words[0])]


def host(tmp_path: Path, node=None):
    (tmp_path / "twin").mkdir()
    return scenarios.host(tmp_path / "twin", node or scenarios.tiny(), scenarios.Clock())


@pytest.mark.parametrize("shell", SHELLS)
def test_the_archive_gives_the_captures_that_the_agent_would_make(tmp_path, shell):
    seen, expected = stage.traced(host(tmp_path))
    stage.build(tmp_path, seen)
    written, _ = stage.collect(tmp_path, shell)
    recording = recorded.read(stage.parts(written))
    found = {(one.source, one.key): one.body() for one in replay.captures(recording)}
    assert found == {(one.source, one.key): one.body() for one in expected}
    asked = {argv: one.limit for argv, one in recording.asked.items()}
    assert asked == {argv: limit for argv, (_, limit) in seen.ran.items()}, "the script asks what the agent asks, with its deadlines"
    assert not list(tmp_path.glob("slotlight.*")), "nothing is left on the host"
