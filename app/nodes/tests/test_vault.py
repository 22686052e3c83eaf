"""A copy of the database signs nothing."""

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from threading import Barrier

import pytest
from django.apps import apps

from app.ledger import keys, notes, secretfile
from app.nodes import vault
from app.nodes.models import NodeKey

SECRET = bytes(range(32))


@pytest.fixture
def folder(db, tmp_path, settings, monkeypatch):
    settings.SLOTLIGHT_LEDGER_KEY = str(tmp_path / "ledger.key")
    return tmp_path


def test_the_database_does_not_hold_the_secret(agent):
    sealed = bytes(NodeKey.objects.get().secret)
    assert agent.key not in sealed
    assert vault.reveal(sealed, NodeKey.objects.get().key_id) == agent.key


def test_the_key_is_the_owners_alone_and_stays(folder):
    sealed = vault.seal(SECRET, "k")
    assert stat.S_IMODE((folder / "nodes.key").stat().st_mode) == 0o600
    assert vault.seal(SECRET, "k") != sealed, "the same secret never looks the same"
    assert vault.reveal(sealed, "k") == SECRET


def test_a_secret_is_good_for_its_own_row_only(folder):
    sealed = vault.seal(SECRET, "k")
    for changed in (sealed[:-1], sealed[:-1] + bytes([sealed[-1] ^ 1]), b"\x02" + sealed[1:], b"", SECRET):
        with pytest.raises(vault.KeyLost):
            vault.reveal(changed, "k")
    with pytest.raises(vault.KeyLost):
        vault.reveal(sealed, "another")


def test_a_lost_key_is_not_made_anew_over_sealed_secrets(agent, tmp_path, settings):
    settings.SLOTLIGHT_LEDGER_KEY = str(tmp_path / "elsewhere" / "ledger.key")
    with pytest.raises(vault.KeyLost, match="Put it back"):
        vault.seal(SECRET, "k")
    assert "Put it back" in vault.fault()


def test_a_revoked_key_leaves_no_secret(agent):
    from django.utils import timezone

    from app.nodes import keys

    keys.revoke(NodeKey.objects.get().node, "ann", timezone.now())
    assert bytes(NodeKey.objects.get().secret) == b""


def test_several_that_come_first_make_one_key(folder):
    """The demo's nodes enrol in the same moment."""
    barrier = Barrier(4)

    def make(_number):
        barrier.wait()
        vault._make(vault.key_path())
        return secretfile.read(vault.key_path())

    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(make, range(4)))) == 1


def test_an_upgrade_seals_what_lies_in_the_clear(agent):
    """The migration writes the form that the vault reads, and there and back."""
    move = import_module("app.nodes.migrations.0004_sealed_secrets")
    NodeKey.objects.update(secret=SECRET)
    key_id = NodeKey.objects.get().key_id
    move.seal(apps, None)
    assert vault.reveal(bytes(NodeKey.objects.get().secret), key_id) == SECRET
    move.reveal(apps, None)
    assert bytes(NodeKey.objects.get().secret) == SECRET


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes files for others")
@pytest.mark.parametrize(
    "make", [vault._make, notes.make_key, lambda path: keys.make(path, keys.new_order_key)], ids=["nodes", "ledger", "order"]
)
def test_a_key_that_root_makes_is_for_whoever_owns_its_folder(folder, make, settings):
    """`./run bench` and `./run manage` run as root, web and worker as somebody else."""
    os.chown(folder, 65534, 65534)
    make(folder / "made.key") if make is not notes.make_key else make()
    for path in folder.glob("*.key"):
        assert (path.stat().st_uid, stat.S_IMODE(path.stat().st_mode)) == (65534, 0o600)
    assert list(folder.glob("*.key"))
