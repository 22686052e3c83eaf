"""The readers of the agent understand what real nodes said in the kept scenes."""

import pytest

from agents.collectors import zdb_label, zpool_import, zpool_status
from agents.collectors.base import Unparsed
from agents.tests import scenes
from agents.tests.scenes import SCENES, Printed

READERS = {"$ zpool status": zpool_status.parse, "$ zdb -l": zdb_label.parse}
PLAYED = [(release, name) for name in SCENES for release in scenes.played(name)]
NO_SOURCE = (
    "all pools are healthy\n",
    "no pools available\n",
    "pool 'tank' is healthy\n",
    "cannot open ",
    "failed to invalidate cache ",  # the labels are not the disk's: agents/tests/test_zdb_label.py
)


def _reader(one: Printed):
    if one.step == "$ zpool import":
        return zpool_import.parse
    return next((reader for begin, reader in READERS.items() if one.step.startswith(begin)), None)


@pytest.mark.parametrize(("release", "name"), PLAYED, ids=[f"{release}-{name}" for release, name in PLAYED])
def test_what_a_node_said_is_read(release, name):
    for one in scenes.kept(release, name).outputs:
        reader = _reader(one)
        if reader and one.stdout and not one.stdout.startswith(NO_SOURCE):
            read = reader(one.stdout)
            assert read, one.step
            assert not isinstance(read, Unparsed), (one.step, read)
