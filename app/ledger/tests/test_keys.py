"""The order key: made once, for its owner alone, and checkable with a plain openssl."""

import subprocess

import pytest

from app.ledger import keys
from app.ledger import services as ledger

pytestmark = pytest.mark.django_db


@pytest.fixture
def folder(tmp_path, settings):
    settings.SLOTLIGHT_LEDGER_KEY = tmp_path / "keys" / "ledger.key"
    return tmp_path / "keys"


def test_it_is_made_once_and_lies_beside_the_ledger_key(folder):
    made = keys.order_key()
    assert keys.order_key().public_pem == made.public_pem
    assert [path.name for path in folder.iterdir()] == ["order.key"]
    assert (folder / "order.key").stat().st_mode & 0o777 == 0o600
    assert len(made.key_id) == 16


@pytest.mark.parametrize(("text", "answer"), [(b'{"order":"1"}', "Verified OK"), (b'{"order":"2"}', "Verification failure")])
def test_a_plain_openssl_checks_what_it_signed(folder, tmp_path, text, answer):
    key = keys.order_key()
    (tmp_path / "public.pem").write_text(key.public_pem)
    (tmp_path / "signature").write_bytes(key.sign(b'{"order":"1"}'))
    (tmp_path / "data").write_bytes(text)
    argv = ["openssl", "dgst", "-sha256", "-verify", "public.pem", "-signature", "signature", "data"]
    done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == answer


@pytest.mark.parametrize("content", ["", "not a key"])
def test_a_damaged_key_stops_sealing(folder, content):
    folder.mkdir()
    (folder / "order.key").write_text(content)
    with pytest.raises(keys.LedgerDown, match=r"order\.key cannot be used"):
        keys.order_key()


def test_a_key_of_another_kind_stops_sealing(folder):
    keys.make(folder / "order.key", keys.Ed25519PrivateKey.generate)
    with pytest.raises(keys.LedgerDown, match="another kind"):
        keys.order_key()


def test_a_key_that_was_used_is_not_made_anew(folder):
    keys.order_key()
    (folder / "order.key").unlink()
    assert keys.order_key(), "nobody can have seen the first one"
    ledger.record("order.sealed", {"order": "1"}, "ann", node="oss01")
    (folder / "order.key").unlink()
    with pytest.raises(keys.LedgerDown, match="Put it back from the backup"):
        keys.order_key()
