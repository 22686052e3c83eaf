"""The commands of the guide's page on backups, run as they stand there: a dump, a restore, and a ledger that is whole afterwards."""

import os
import re
import subprocess
import sys

import pytest

from app.guide import pages
from app.ledger import services as ledger
from launcher.bootstrap import ROOT
from tests.ground import SECRET

RESTORED = "slotlight_restored"


def commands(*programs):
    page = (pages.FOLDER / "backup.md").read_text("utf-8")
    return [line for line in re.findall(r"^\$ (.+)$", page, re.MULTILINE) if line.split()[0] in programs]


@pytest.fixture
def site(ground, committed_db, tmp_path):
    """An installation with something in its ledger, and the environment that the page's reader has."""
    if ground.external:
        pytest.skip("The drill makes a database of its own, as the superuser of the private server.")
    ledger.record("person.noted", {"what": "before the dump", "evidence": ledger.keep(b"pool: ost_0", "text/plain")}, "ann", node="oss01")
    ledger.checkpoint_now()
    known = ground.environment(committed_db)
    yield {
        **os.environ,
        **known,
        "PATH": f"{ground.postgres.bin}{os.pathsep}{os.path.dirname(sys.executable)}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "SUPERUSER_URL": ground.postgres.url("postgres", SECRET, "postgres"),
        "RESTORED_OWNER_URL": ground.url(RESTORED, "owner"),
        "SLOTLIGHT_DATABASE": RESTORED,
        "SLOTLIGHT_OWNER_PASSWORD": SECRET,
        "SLOTLIGHT_APP_PASSWORD": SECRET,
        "DUMP": str(tmp_path / "slotlight.dump"),
    }
    ground.drop(RESTORED)


def run(line, environment, **more):
    """As a shell would have it, and without one: the page uses variables, and the names of two files."""
    words = re.sub(r'"?\$([A-Z_]+)"?', lambda found: environment[found[1]], line).replace("slotlight.dump", environment["DUMP"]).split()
    done = subprocess.run(words, cwd=ROOT, env=environment | more, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
    return done.stdout


def test_a_dump_is_restored_and_its_ledger_is_whole(site, ground):
    for line in commands("pg_dump", "psql", "pg_restore"):
        run(line, site)
    theirs = {"DATABASE_URL": ground.url(RESTORED), "DATABASE_OWNER_URL": ground.url(RESTORED, "owner")}
    lines = [run(line, site, **theirs) for line in commands("python")]
    _migrated, check, verify = lines
    assert "as they were made" in check
    assert "INTACT." in verify
    assert "1 events" in verify
    assert "1 blobs" in verify
