"""One line of an alert: the thing, the state, its direction and what denies it decide what it means, whoever sent it."""

from __future__ import annotations

import pytest

from workflows.triage import triage

RAISED = {
    "Problem: SMART [sdq sat]: Attribute Reallocated_Sector_Ct is failed": ("disk-failing", "act"),
    "PROBLEM: SMART attribute 197 Current_Pending_Sector of /dev/sdq is 8 on oss7": ("disk-errors", "watch"),
    "PROBLEM: Current_Pending_Sector on sdq is 16": ("disk-errors", "watch"),
    "SMART: sdq Reallocated_Sector_Ct: 7 -> 9": ("disk-errors", "watch"),
    "Problem: Disk self-test is not passed on sdq": ("disk-failing", "act"),
    "Problem: Disk array controller is in critical state!": ("hba-fault", "watch"),
    "Problem: Power supply is in critical state": ("enclosure-fault", "watch"),
    "Problem: Disk[7] is not in optimal state": ("disk-errors", "watch"),
    "SAS port 7 of switch sw7 is degraded": ("link-crc", "watch"),
    "Expander port 7 is down": ("link-crc", "watch"),
    "WARNING: Multipath mpathq has only 1 of 2 paths": ("path-lost", "watch"),
    "Path to disk 7 lost": ("path-lost", "watch"),
    "ALERT oss7: disk /dev/sdq temperature 61C exceeds 55C": ("disk-hot", "watch"),
    "Fan 7 speed below threshold": ("enclosure-fault", "watch"),
    "Fan7 has stopped": ("enclosure-fault", "watch"),
    "Power supply redundancy is lost": ("enclosure-fault", "watch"),
    "Battery of controller 7 needs replacement": ("hba-fault", "watch"),
    "Cache battery low on controller 7": ("hba-fault", "watch"),
    "Disk 7 has only 3% life remaining": ("disk-worn", "watch"),
    "SSD /dev/nvme7 wear level 97%": ("disk-worn", "watch"),
    "Disk 7 I/O error count 9": ("disk-errors", "watch"),
    "Rebuild of RAID 7 failed on drive 9": ("vdev-degraded", "act"),
    "Array 7 is degraded, rebuild in progress": ("vdev-degraded", "act"),
    "Array 7 is degraded: data at risk": ("vdev-degraded", "act"),
    "Data at risk: array 7 is degraded": ("vdev-degraded", "act"),
    "Array 7 is degraded - no further failure is survived": ("vdev-degraded", "act"),
    "Volume state changed from Optimal to Degraded (volume 7)": ("vdev-degraded", "act"),
    "Drive 7 status changed from OK to Failed": ("disk-failing", "act"),
    "Slot: 22, status: Unplugged": ("disk-missing", "watch"),
    "--PDisk 7 (0:1:7) 99 GB: ONLINE, Spare: no, S/N: Z1Z0AAA1 isFailing: 1(!)": ("disk-failing", "act"),
    "CRIT - md7: Status: active, Spare: 0, Failed: 1, Active: 1, Status: 2/1, U_(!!)": ("vdev-degraded", "act"),
    "WARN - Reallocated sectors: 7(!), Power on: 3 years": ("disk-failing", "watch"),
    "CRITICAL: pool gamma is full (97%)": ("pool-filling", "watch"),
    "zpool gamma capacity at 92%": ("pool-filling", "watch"),
    "Drive 7: Temperature warning": ("disk-hot", "watch"),
    "[Warn] NVMe SSD 7 spare capacity is below threshold": ("disk-worn", "watch"),
    "Disk sdq has been kicked from md7": ("disk-missing", "watch"),
    "Disk 7 health changed to Caution": ("disk-errors", "watch"),
    "Disk 7 is slow": ("slow-disk", "watch"),
    "Controller 7 reset unexpectedly": ("hba-fault", "watch"),
    "phy 7 link rate reduced to 3.0 Gb/s": ("link-crc", "watch"),
    "Invalid dword count on phy 7: 9999": ("link-crc", "watch"),
    "sdq: UDMA_CRC_Error_Count: 15": ("link-crc", "watch"),
}
SILENT = (
    "RESOLVED: Current_Pending_Sector on sdq is 0",
    "PD 7 media error count: 0",
    "Smart status: OK, failing: 0",
    "Failed drives: 0, missing: 0",
    "disk sdq I/O errors: 0",
    "--PDisk 7 (0:1:7) 99 GB: ONLINE, Spare: no, S/N: Z1Z0AAA1 isFailing: 0",
    "Drive 7 status changed from Failed to OK",
    "Drive 7 rebuild completed",
    "Risk: failure of drive 7 = pool loss",
    "Path sdq of mpathq recovered",
    "Backup of volume 7 failed",
    "Volume 7 snapshot failed",
    "Login to array 7 failed",
    "Replication to pool gamma failed",
    "Array 7 firmware update failed",
    "Device eth7 is down",
    "Email to admin failed: path not found",
    "UPS battery low",
    "Disk quota exceeded for user 7",
    "SMART self-test of sdq passed",
    "nvme0n1 percentage used: 7%",
    "Drive 7 is spinning down",
    "Switch port 7 is down",
    "sdq: UDMA_CRC_Error_Count: 0",
    "Bad sectors on disk 7 have been repaired",
    "Drive bay 7: No drive",
    "zpool gamma capacity at 42%",
)


@pytest.mark.parametrize("line", RAISED)
def test_a_line_that_states_trouble_is_raised_as_what_it_is(line):
    read = triage([("p", f"{line}\n")])
    assert [(found.slug, found.severity) for found in read.situations] == [RAISED[line]]
    assert not read.good


@pytest.mark.parametrize("line", SILENT)
def test_a_line_that_denies_counts_nothing_or_is_of_another_matter_raises_nothing_and_is_not_good(line):
    read = triage([("p", f"{line}\n")])
    assert not [found.slug for found in read.situations]
    assert not read.good


def test_what_is_done_with_a_volume_and_failed_is_no_volume_that_failed():
    read = triage([("p", "WARNING: Replication of pool gamma to oss7 failed\n")])
    assert [found.slug for found in read.situations] == ["unexplained"]


@pytest.mark.parametrize(
    ("attribute", "slug"),
    [
        ("9 Power_On_Hours", "disk-worn"),
        ("194 Temperature_Celsius", "disk-hot"),
        ("184 End-to-End_Error", "disk-failing"),
        ("202 Percent_Lifetime_Remain", "disk-worn"),
    ],
)
def test_an_attribute_that_counts_age_or_heat_is_no_defect(attribute, slug):
    read = triage([("p", f"Device: /dev/sdq [SAT], Failed SMART usage Attribute: {attribute}.\n")])
    assert [found.slug for found in read.situations] == [slug]


def test_a_power_unit_of_an_event_log_is_no_array():
    read = triage([("p", "1f7 | 02/03/2024 | 04:05:06 | Power Unit #0x47 | Redundancy Lost | Asserted\n")])
    assert [(found.slug, found.title.partition(":")[0]) for found in read.situations] == [("enclosure-fault", "Power Unit #0x47")]


def test_an_nvme_disk_that_warns_on_the_console_is_raised():
    read = triage([("p", "nvme7: async event occurred (type 0x1, info 0x01, page 0x02)\nnvme7: temperature above threshold\n")])
    assert [(found.slug, found.severity) for found in read.situations] == [("kernel-errors", "act")]
    assert "replace" not in {cure.kind for found in read.situations for cure in found.cures}


def test_a_part_that_is_no_disk_is_called_by_its_name():
    titles = [
        triage([("p", f"{line}\n")]).situations[0].title for line in ("FC port 7 link down", "Fan 7 failed", "zpool gamma capacity at 92%")
    ]
    assert [title.partition(":")[0] for title in titles] == ["FC port 7", "Fan 7", "gamma"]
