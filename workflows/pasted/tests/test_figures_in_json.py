"""Figures of NVMe disks and scans of smartctl in JSON."""

import pytest

from workflows.triage import triage


@pytest.mark.parametrize(
    "given",
    [
        '{ "critical_warning" : 0, "avail_spare" : 4, "spare_thresh" : 10, "percent_used" : 61, "media_errors" : 0 }',
        '{ "critical_warning" : { "value" : 4, "ro" : 0 }, "avail_spare" : 88, "spare_thresh" : 10, "media_errors" : 0 }',
    ],
)
def test_each_figure_of_nvme_json_is_read_by_the_name_it_has_there(given):
    """Its names differ from those of the text, and its critical warning is in pieces: a disk without spare was good, with None % left."""
    found = triage([("p", given)])
    assert [s.slug for s in found.situations] == ["disk-failing"]
    assert not any("None" in note for read in found.reads for note in read.notes)


def test_a_scan_of_smartctl_is_not_called_good():
    sentence = '{\n  "smartctl": {\n    "argv": ["smartctl", "--scan", "--json"],\n    "exit_status": 0\n  },\n  "devices": [\n    { "name": "/dev/sda", "type": "sat" }\n  ]\n}\n'
    found = triage([("p", sentence)])
    assert not found.good
