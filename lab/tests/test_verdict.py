"""What stands before smartctl adds nothing where there is SMART."""

import json

from lab.verdict import with_verdict

LACKS = {"smartctl": {"version": [7, 3]}, "smart_support": {"available": False}, "serial_number": "ZA20006X"}


def test_a_disk_without_smart_is_given_a_verdict_and_a_self_test():
    answer = json.loads(with_verdict(json.dumps(LACKS).encode()))
    assert answer["smart_status"] == {"passed": True}
    assert answer["serial_number"] == "ZA20006X"
    assert answer["scsi_self_test_0"]["result"]["value"] == 0


def test_an_nvme_disk_keeps_its_own_verdict_and_is_said_to_have_no_self_test():
    health = {"smartctl": {"version": [7, 3]}, "smart_status": {"passed": False}, "nvme_smart_health_information_log": {"media_errors": 1}}
    answer = json.loads(with_verdict(json.dumps(health).encode()))
    assert answer.pop("nvme_optional_admin_commands") == {"self_test": False}
    assert answer == health


def test_what_is_said_of_a_disk_with_smart_and_what_is_no_json_stays():
    for document in (json.dumps({**LACKS, "smart_support": {"available": True}}).encode(), b"smartctl 7.3\n", b"[]"):
        assert with_verdict(document) == document
