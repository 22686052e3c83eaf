"""The scenes that the twin is held against, on a real node: it still says what is kept.

With `--keep DIR` what it says now is written there, for `agents/tests/captures/scenes`, and compared with nothing.
"""

import pytest

from agents.tests import scenes
from agents.tests.scenes import SCENES
from lab.tests.players import Player

NODE, PARTNER, HOSTID = "oss13", "oss14", "0badcafe"
DISKS = max(scene.disks for scene in SCENES.values())


@pytest.fixture(scope="module")
def machine(boot):
    return boot(NODE, DISKS)


@pytest.fixture(scope="module")
def partner(boot, machine):
    return boot(PARTNER, DISKS, hostid=HOSTID, disks_folder=str(machine.folder / "disks"), lot=machine.settings.lot)


@pytest.mark.parametrize("name", SCENES)
def test_a_real_node_says_what_is_kept(name, machine, made, request):
    scene, release = SCENES[name], made.zfs_version.partition("-")[0]
    if release not in scene.releases:
        pytest.skip(f"It is played on OpenZFS {' and '.join(scene.releases)}.")
    folder = request.config.getoption("--keep")
    if release not in scenes.played(name) and not folder:
        pytest.skip(f"Nothing is kept of it on OpenZFS {release} yet: --keep DIR plays it.")
    transcript = Player(machine, scene, request.getfixturevalue("partner") if scene.hosts > 1 else None).play()
    print(transcript.text())
    if folder:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / scenes.path_of(release, name).name).write_text(transcript.text())
        return
    for now, before in zip(scenes.everything_alike(transcript), scenes.everything_alike(scenes.kept(release, name)), strict=True):
        assert now == before
