"""Where the token comes from, and where it must not."""

import os

import pytest

from cli import config
from cli.problems import Trouble


@pytest.fixture
def home(tmp_path):
    return {"HOME": str(tmp_path)}


def test_the_environment_wins_over_the_file(home):
    config.save(home, "https://a.example", "slt_a")
    assert config.load(home | {"SLOTLIGHT_TOKEN": "slt_b"})[:2] == ("https://a.example", "slt_b")


def test_the_file_is_for_its_owner_only_from_its_first_byte_on(home):
    old = os.umask(0)
    try:
        file = config.save(home, "https://a.example", "slt_a")
    finally:
        os.umask(old)
    assert file.stat().st_mode & 0o777 == 0o600
    assert config.load(home).token == "slt_a"


def test_a_file_that_others_can_read_is_refused(home):
    file = config.save(home, "https://a.example", "slt_a")
    file.chmod(0o640)
    with pytest.raises(Trouble, match="can be read by others") as refused:
        config.load(home)
    assert "chmod 600" in refused.value.do
    assert refused.value.code == 2


@pytest.mark.parametrize("url", ["http://portal.example", "ftp://portal.example", "portal.example", "http://127.0.0.1.example"])
def test_a_token_goes_over_no_network_in_the_clear(url):
    with pytest.raises(Trouble):
        config.checked(url)


@pytest.mark.parametrize("url", ["https://portal.example/", "http://127.0.0.1:8000", "http://[::1]:8000"])
def test_https_and_this_machine_are_fine(url):
    assert config.checked(url) == url.rstrip("/")


def test_nothing_said_says_what_to_do(home):
    with pytest.raises(Trouble, match="SLOTLIGHT_URL is not set") as refused:
        config.load(home)
    assert refused.value.do == "Run `slotlight login URL`."


def test_a_file_that_is_no_toml_is_named(home):
    file = config.save(home, "https://a.example", "slt_a")
    file.write_text("url = ")
    with pytest.raises(Trouble, match="cannot be read"):
        config.load(home)
