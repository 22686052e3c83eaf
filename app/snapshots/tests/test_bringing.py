"""Archives of hosts without an agent, brought by page: what becomes of them, and what is refused with nothing stored."""

import gzip
import io
import tarfile
import time
from datetime import timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from app.fleet.models import Node, Situation
from app.fleet.services import facts_of, fleet_facts
from app.ledger.models import Blob, LedgerEvent
from app.runs.tests.cast import person
from app.snapshots.models import Snapshot
from twin import scenarios
from workflows.facts import known
from workflows.snapshot import recorded
from workflows.snapshot.tests import stage

BRING = "/snapshots/bring/"


def archive_of(node, tmp_path, *, at=None, host="", change=None):
    """An archive as the script writes it, of a twin, without running the script."""
    folder = tmp_path / f"twin{time.monotonic_ns()}"
    folder.mkdir()
    seen, _ = stage.traced(scenarios.host(folder, node, scenarios.Clock()))
    return stage.archive(
        seen, at=int(at or time.time()), host=host or node.hostname, hostid=node.hostid, boot_id=node.boot_id, change=change
    )


@pytest.fixture
def operator(client, db):
    operator = person("olga", "operator")
    client.force_login(operator)
    return operator


def send(client, data, **fields):
    return client.post(BRING, {"archive": SimpleUploadedFile("a.slotlight", data), **fields})


def test_an_archive_becomes_a_node_with_facts_and_situations(client, operator, tmp_path):
    node = scenarios.drifted()
    answer = send(client, archive_of(node, tmp_path))
    assert answer.status_code == 302, answer.content.decode()
    here = Node.objects.get()
    assert (here.name, here.state) == ("oss01", "brought")
    facts = facts_of(here)
    assert facts.brought
    assert known(facts.pools)
    assert [pool.name for pool in facts.pools] == ["ost_1"]
    assert Situation.objects.filter(slug="wwid-mismatch", closed_at=None).exists()
    [event] = LedgerEvent.objects.filter(type="snapshot.brought")
    assert event.parsed["body"]["archive"] == Snapshot.objects.get().digest
    page = client.get(answer.url).content.decode()
    assert "has no agent" in page
    assert "olga" in page


def nothing_is_stored():
    assert not Node.objects.exists()
    assert not Snapshot.objects.exists()
    assert not Blob.objects.exists()
    assert not LedgerEvent.objects.exclude(type__startswith="person.").exclude(type__startswith="token.").exists()


def words(answer) -> str:
    return " ".join(answer.content.decode().split())


def refused(client, data, why, **fields):
    before = Blob.objects.count(), Snapshot.objects.count(), LedgerEvent.objects.count(), Node.objects.count()
    answer = send(client, data, **fields)
    assert answer.status_code == 422, answer.status_code
    assert "Nothing was stored." in words(answer)
    assert why in words(answer), words(answer)[:3000]
    assert (Blob.objects.count(), Snapshot.objects.count(), LedgerEvent.objects.count(), Node.objects.count()) == before


def tar_of(*members, mode="w:gz"):
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode=mode) as tar:
        for name, data, more in members:
            info = tarfile.TarInfo(name)
            for field, value in more.items():
                setattr(info, field, value)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return held.getvalue()


STATUS = b"  pool: tank\n state: ONLINE\nconfig:\n\n\tNAME        STATE     READ WRITE CKSUM\n\ttank        ONLINE       0     0     0\n\t  /dev/sda1 ONLINE       0     0     0\n\nerrors: No known data errors\n"


def test_a_bomb_is_refused(client, operator, monkeypatch):
    refused(client, tar_of(("out/zpool_status.txt", bytes(1000), {}), ("out/rest", bytes(900 * 1024 * 1024), {})), "more than 768 MiB")


@pytest.mark.parametrize(
    ("name", "more", "why"),
    [
        ("../../etc/cron.d/x", {}, "leads out of the archive"),
        ("out/../../x", {}, "leads out of the archive"),
        ("/etc/passwd", {}, "has an absolute name"),
        ("out/zpool_status", {"type": tarfile.SYMTYPE, "linkname": "/etc/shadow"}, "is a link to"),
        ("out/zpool_status", {"type": tarfile.LNKTYPE, "linkname": "out/other"}, "is a link to"),
        ("out/zpool_status", {"type": tarfile.CHRTYPE}, "is a device"),
        ("out/zpool_status", {"type": tarfile.FIFOTYPE}, "is a device"),
        ("/".join("d" * 30) + "/zpool_status", {}, "folders deep"),
        ("out/" + "n" * 2000, {}, "characters; 1024 are the most"),
        ("out/a\x1b[2Jb", {}, "control character"),
    ],
)
def test_what_leads_out_of_an_archive_or_is_no_output_is_refused(client, operator, name, more, why):
    refused(client, tar_of(("out/first.txt", STATUS, {}), (name, b"", more)), why, host="oss09", taken_at="2026-01-01T00:00")


def test_a_million_entries_are_not_read_to_their_end(client, operator):
    block = tarfile.TarInfo("out/x").tobuf(tarfile.GNU_FORMAT)
    refused(client, gzip.compress(block * 1_000_000, 1), "more than 50000 entries")


def test_a_torn_archive_is_refused(client, operator, tmp_path):
    whole = archive_of(scenarios.tiny(), tmp_path)
    refused(client, whole[: len(whole) // 2], "cut short")
    plain = gzip.decompress(whole)
    refused(client, plain[: len(plain) // 2], "cut short")
    head = b"motd\n\nslotlight-collect-archive 1 %d\n" % len(whole)
    refused(client, head + whole[:-10], "was cut short")
    nothing_is_stored()


def test_an_archive_that_lies_of_its_host_is_refused(client, operator, tmp_path):
    refused(client, archive_of(scenarios.tiny(), tmp_path, host="oss99"), "these are two hosts, or the archive was changed")
    nothing_is_stored()


def test_an_archive_whose_outputs_do_not_add_up_is_refused(client, operator, tmp_path):
    def longer(held):
        return held | {recorded.ANSWERS: held[recorded.ANSWERS] + b"more"}

    refused(client, archive_of(scenarios.tiny(), tmp_path, change=longer), "it was changed")


def test_two_hosts_in_one_are_refused(client, operator):
    two = tar_of(("sosreport-a-1/hostname", b"a\n", {}), ("sosreport-b-1/hostname", b"b\n", {}))
    refused(client, two, "holds 2 hosts")
    prompts = b"root@a:~# zpool status\n" + STATUS + b"root@b:~# zpool status\n" + STATUS
    refused(client, prompts, "more than one host", taken_at="2026-01-01T00:00")


def test_it_waits_for_nobody_who_may_not(client, db, tmp_path):
    assert client.get(BRING).status_code == 302
    client.force_login(person("vera", "viewer"))
    assert client.get(BRING).status_code == 403
    assert send(client, archive_of(scenarios.tiny(), tmp_path)).status_code == 403
    nothing_is_stored()


def test_what_an_agent_reports_is_never_overridden(client, operator, tmp_path):
    Node.objects.create(name="oss01", state=Node.State.ENROLLED)
    refused(client, archive_of(scenarios.tiny(), tmp_path), "oss01 has an agent, and what that reports is never overridden")
    refused(client, archive_of(scenarios.tiny(), tmp_path), "systemctl restart slotlight-agent")


def test_nor_that_of_the_same_host_under_another_name(client, operator, tmp_path):
    node = scenarios.tiny()
    Node.objects.create(name="storage-a", state=Node.State.ENROLLED, boot_id=node.boot_id)
    refused(client, archive_of(node, tmp_path), "storage-a has an agent")


def test_an_older_one_does_not_take_the_place_of_a_later(client, operator, tmp_path):
    now = int(time.time())
    assert send(client, archive_of(scenarios.tiny(), tmp_path, at=now)).status_code == 302
    refused(client, archive_of(scenarios.tiny(), tmp_path, at=now - 60), "which is later than this")


def test_the_same_archive_again_changes_nothing(client, operator, tmp_path):
    data = archive_of(scenarios.tiny(), tmp_path)
    assert send(client, data).status_code == 302
    before = LedgerEvent.objects.count()
    assert send(client, data).status_code == 302
    assert LedgerEvent.objects.count() == before


def test_another_host_of_the_same_name_is_refused_until_it_is_said_to_be_anew(client, operator, tmp_path):
    now = int(time.time())
    assert send(client, archive_of(scenarios.tiny(), tmp_path, at=now - 60)).status_code == 302
    other = scenarios.tiny()
    other.hostid = "0badcafe"
    refused(client, archive_of(other, tmp_path, at=now), "it may be another host of that name")
    assert send(client, archive_of(other, tmp_path, at=now), anew="on").status_code == 302


def test_one_boot_under_two_names_is_refused_until_the_other_is_retired(client, operator, tmp_path):
    now = int(time.time())
    assert send(client, archive_of(scenarios.tiny(), tmp_path, at=now - 60)).status_code == 302
    renamed = scenarios.tiny()
    renamed.hostname = "oss77"
    refused(client, archive_of(renamed, tmp_path, at=now), "which was brought as oss01")
    assert client.post("/snapshots/oss01/retire/").status_code == 302
    assert send(client, archive_of(renamed, tmp_path, at=now)).status_code == 302


def test_it_is_as_old_as_the_beginning_of_its_collection(client, operator, tmp_path):
    began = int(time.time()) - 300

    def took_long(held):
        return held | {recorded.MANIFEST: held[recorded.MANIFEST].replace(f"ended\t{began + 2}".encode(), f"ended\t{began + 290}".encode())}

    assert send(client, archive_of(scenarios.tiny(), tmp_path, at=began, change=took_long)).status_code == 302
    here = Node.objects.get()
    assert here.last_report_at.timestamp() == began
    assert set(here.asked.values()) == {float(began)}


def test_a_clock_that_is_ahead_is_refused(client, operator, tmp_path):
    refused(client, archive_of(scenarios.tiny(), tmp_path, at=int(time.time()) + 3600), "is ahead of the portal")


def test_it_grows_old_and_says_so_everywhere(client, operator, tmp_path):
    assert send(client, archive_of(scenarios.tiny(), tmp_path, at=int(time.time()) - 3600)).status_code == 302
    for page in ("/", "/nodes/oss01/", "/snapshots/oss01/"):
        assert "60 min ago" in words(client.get(page)), page
    assert "bring it again" in words(client.get("/")).lower()
    facts = fleet_facts(timezone.now()).nodes["oss01"]
    assert facts.age_seconds >= timedelta(minutes=59).total_seconds()


def test_a_retired_one_holds_up_nobody_and_comes_back_when_it_is_brought_again(client, operator, tmp_path):
    now = int(time.time())
    send(client, archive_of(scenarios.drifted(), tmp_path, at=now - 60))
    assert client.post("/snapshots/oss01/retire/").status_code == 302
    assert not fleet_facts(timezone.now()).nodes
    assert not Situation.objects.filter(closed_at=None).exists()
    assert client.post("/snapshots/oss01/retire/").status_code == 409
    assert send(client, archive_of(scenarios.drifted(), tmp_path, at=now)).status_code == 302
    assert Situation.objects.filter(closed_at=None).exists()


def test_saved_outputs_of_a_host_become_a_node_and_say_what_they_lack(client, operator):
    data = tar_of(
        ("oss07/zpool_status_-v.txt", STATUS, {"mtime": int(time.time()) - 120}), ("oss07/notes.txt", b"call Olga\n", {"mtime": 1})
    )
    answer = send(client, data, host="oss07.example.org", taken_at="2026-01-01T00:00")
    assert answer.status_code == 302, words(answer)
    facts = facts_of(Node.objects.get(name="oss07"))
    assert [pool.name for pool in facts.pools_read] == ["tank"]
    page = words(client.get("/snapshots/oss07/"))
    assert "zpool status" in page
    assert "No file of it was there." in page
    assert not any(b"call Olga" in bytes(one.bytes) for one in Blob.objects.all()), "what is not read here is dropped"
