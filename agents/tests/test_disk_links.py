from agents.collectors import disk_links
from agents.collectors.base import Unparsed
from agents.collectors.disk_links import parse
from agents.tests.scenarios import step
from twin.captured_host import CapturedHost


def test_it_reads_where_every_link_leads():
    (capture,) = disk_links.collect(CapturedHost(step("wwid-drift/4-import-d-dev")))
    links = dict(parse(capture.text))
    assert links["/dev/disk/by-id/wwn-0x5000c500a65b204b"] == "sdc"
    assert links["/dev/disk/by-id/scsi-35000c500a65b204b-part1"] == "sdc1"
    assert not any("by-path" in link for link in links)


def test_a_folder_without_links_is_an_answer():
    assert parse("") == ()


def test_a_link_to_a_mapped_device_keeps_its_folder():
    assert parse("/dev/disk/by-id/dm-name-mpatha -> /dev/mapper/mpatha\n") == (("/dev/disk/by-id/dm-name-mpatha", "mapper/mpatha"),)


def test_it_refuses_another_folder():
    assert isinstance(parse("/dev/disk/by-path/x -> /dev/sda\n"), Unparsed)
