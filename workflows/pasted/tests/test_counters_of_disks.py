"""Disks by their counters in the words of other tools than smartctl: exporters, Checkmk's agent, log pages. Judged as the disk's own report is."""

from __future__ import annotations

import pytest

from workflows.triage import triage

METRICS = """# HELP smartmon_device_smart_healthy SMART metric device_smart_healthy
# TYPE smartmon_device_smart_healthy gauge
smartmon_device_smart_healthy{{disk="/dev/sdc",type="sat"}} {healthy}
smartmon_current_pending_sector_raw_value{{disk="/dev/sdc",type="sat",smart_id="197"}} {pending}
smartmon_power_on_hours_raw_value{{disk="/dev/sdc",type="sat",smart_id="9"}} 3.120000e+04
"""
CHECKMK = """<<<smart>>>
/dev/sdk ATA WDC_WD4002FYYZ-01B7CB1 5 Reallocated_Sector_Ct 0x0033 200 200 140 Pre-fail Always - 0
/dev/sdk ATA WDC_WD4002FYYZ-01B7CB1 197 Current_Pending_Sector 0x0032 200 200 000 Old_age Always - {pending}
/dev/nvme1n1 NVME SAMSUNG_MZQLB3T8HALS-00007 Critical Warning: {warning}
/dev/nvme1n1 NVME SAMSUNG_MZQLB3T8HALS-00007 Percentage Used: 3%
"""
PAGES = """Read error counter page  [0x3]
  Errors corrected without substantial delay = 0
  Errors corrected with possible delays = 4
  Total rewrites or rereads = 0
  Total errors corrected = 4
  Total times correction algorithm processed = 0
  Total bytes processed = 9120334848
  Total uncorrected errors = {uncorrected}
Informational Exceptions page  [0x2f]
  IE asc = 0x{asc}, ascq = 0x{ascq}
    Current temperature = 31 C
"""


def found_in(text):
    read = triage([("p", text)])
    assert [each.outcome for each in read.reads] == ["read"], read.reads
    assert not read.good
    return {(each.slug, each.severity) for each in read.situations}


@pytest.mark.parametrize(
    ("healthy", "pending", "expected"),
    [
        ("1", "0.000000e+00", set()),
        ("0", "0.000000e+00", {("disk-failing", "act")}),
        ("1", "8.000000e+00", {("disk-failing", "watch")}),
        ("1", "4.160000e+02", {("disk-failing", "act")}),
    ],
)
def test_metrics_of_smartmon(healthy, pending, expected):
    assert found_in(METRICS.format(healthy=healthy, pending=pending)) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('smartctl_device_smart_status{device="sdd"} 0', {("disk-failing", "act")}),
        ('smartctl_device_smart_status{device="sdd"} 1', set()),
        ('smartctl_device_attribute{attribute_id="198",attribute_name="Offline_Uncorrectable",attribute_value_type="raw",device="sdd"} 3', {("disk-failing", "watch")}),
        ('smartctl_device_attribute{attribute_id="198",attribute_name="Offline_Uncorrectable",attribute_value_type="value",device="sdd"} 100', set()),
        ('smartctl_device_percentage_used{device="nvme2"} 97', {("disk-worn", "watch")}),
        ('smartctl_read_total_uncorrected_errors{device="sdd"} 2', {("disk-failing", "watch")}),
        ('nvme_critical_warning_total{device="nvme0n1"} 8.0', {("disk-failing", "act")}),
        ('nvme_percentage_used_ratio{device="nvme0n1"} 0.02', set()),
        ('smartmon_attr_raw_value{name="reported_uncorrect",device="/dev/sda",disk="0"} 61', {("disk-failing", "act")}),
        ('smartmon_attr_raw_value{name="power_on_hours",device="/dev/sda",disk="0"} 30079', set()),
        ('megaraid_pd_smart_alerted{controller="0",enclosure="8",slot="2"} 1', {("disk-failing", "act")}),
        ('megaraid_pd_media_errors{controller="0",enclosure="8",slot="2"} 0', set()),
        ('megaraid_vd_info{DG="1",VG="1",controller="0",state="Pdgd"} 1', {("hba-fault", "act")}),
        ('megaraid_battery_backup_healthy{controller="0"} 0', {("hba-fault", "watch")}),
        ('node_md_disks{device="md1",state="failed"} 2', {("disk-failing", "act")}),
        ('node_md_disks{device="md1",state="active"} 2', set()),
        ('node_md_state{device="md1",state="inactive"} 1', {("disk-missing", "act")}),
        ('ipmi_sensor_state{id="12",name="PSU2 Status",type="Power Supply"} 2', {("enclosure-fault", "act")}),
        ('ipmi_chassis_power_state 1', set()),
        (r'smart_device,capacity=8001563222016,device=sdb,host=st2,model=HGST\ HDN726040,serial_no=K1QXYZ12 exit_status=8i,health_ok=false,temp_c=32i 1609459200000000000', {("disk-failing", "act")}),
        ('smart_device,device=sdb,host=st2 exit_status=0i,health_ok=true,pending_sector_count=2i,reallocated_sectors_count=0i 1609459200000000000', {("disk-failing", "watch")}),
        ('smart_device,device=sdb,host=st2 exit_status=0i,health_ok=true,pending_sector_count=0i 1609459200000000000', set()),
    ],
)  # fmt: skip
def test_one_metric(line, expected):
    assert found_in(line) == expected


def test_a_share_of_spare_blocks_is_taken_as_percent():
    assert found_in('nvme_available_spare{device="nvme0n1"} 1\nnvme_available_spare_threshold{device="nvme0n1"} 0.1\n') == set()
    assert found_in('nvme_available_spare_ratio{device="nvme0n1"} 0.08\nnvme_available_spare_threshold_ratio{device="nvme0n1"} 0.1\n') == {
        ("disk-worn", "watch")
    }


def test_metrics_of_a_pool_between_those_of_disks_are_read_too():
    text = (
        METRICS.format(healthy="1", pending="0")
        + 'node_zfs_zpool_state{state="suspended",zpool="vol"} 1\n'
        + 'smartctl_device_smart_status{device="sde"} 0\n'
    )
    read = triage([("p", text)])
    assert [each.source for each in read.reads] == ["disk_metrics", "pool_states", "disk_metrics"]
    assert {each.slug for each in read.situations} == {"pool-suspended", "disk-failing"}


@pytest.mark.parametrize(
    ("pending", "warning", "expected"),
    [
        ("0", "0x00", set()),
        ("5", "0x00", {("disk-failing", "watch")}),
        ("0", "0x04", {("disk-failing", "act")}),
        ("0", "0x02", {("disk-hot", "act")}),
    ],
)
def test_rows_of_checkmk(pending, warning, expected):
    assert found_in(CHECKMK.format(pending=pending, warning=warning)) == expected


@pytest.mark.parametrize("command", ["", "# sg_logs -a /dev/sdg\n"])
@pytest.mark.parametrize(
    ("uncorrected", "asc", "ascq", "expected"),
    [
        ("0", "0", "0", set()),
        ("3", "0", "0", {("disk-failing", "watch")}),
        ("0", "5d", "10", {("disk-failing", "act")}),
        ("0", "b", "1", {("disk-hot", "act")}),
    ],
)
def test_log_pages_of_a_disk_with_and_without_their_command(command, uncorrected, asc, ascq, expected):
    assert found_in(command + PAGES.format(uncorrected=uncorrected, asc=asc, ascq=ascq)) == expected


def test_a_disk_whose_report_says_it_already_is_told_once():
    report = "# smartctl -x /dev/sdg\nsmartctl 7.2 2020-12-30 r5155\n=== START OF READ SMART DATA SECTION ===\nSMART Health Status: FAILURE PREDICTION THRESHOLD EXCEEDED [asc=5d, ascq=10]\n"
    text = report + "# sg_logs -a /dev/sdg\n" + PAGES.format(uncorrected="0", asc="5d", ascq="10")
    assert [each.slug for each in triage([("p", text)]).situations] == ["disk-failing"]


REPORT = """smartctl 7.2 2020-12-30 r5155 [x86_64-linux-5.10.0-20-amd64] (local build)
=== START OF INFORMATION SECTION ===
Device Model:     TOSHIBA MG05ACA800E
Serial Number:    58L2K0QZFRED
=== START OF READ SMART DATA SECTION ===
SMART overall-health self-assessment test result: PASSED
ID# ATTRIBUTE_NAME          FLAG     VALUE WORST THRESH TYPE      UPDATED  WHEN_FAILED RAW_VALUE
  5 Reallocated_Sector_Ct   0x0033   100   100   010    Pre-fail  Always       -       0
  9 Power_On_Hours          0x0032   007   007   000    Old_age   Always       -       {now}
197 Current_Pending_Sector  0x0032   100   100   000    Old_age   Always       -       0

SMART Error Log Version: 1
ATA Error Count: 1
Error 1 occurred at disk power-on lifetime: {then} hours (1001 days + 2 hours)
  40 41 c8 e0 bd 71 40  Error: {why} at LBA = 0x0071bde0 = 7454176

SMART Self-test log structure revision number 1
No self-tests have been logged.  [To run self-tests, use: smartctl -t]
"""


@pytest.mark.parametrize(
    ("now", "then", "why", "expected"),
    [
        (24100, 24026, "UNC", {("disk-failing", "watch")}),
        (24100, 24100, "IDNF", {("disk-failing", "watch")}),
        (24100, 20026, "UNC", set()),  # long ago
        (24100, 24026, "ABRT", set()),
        (24100, 24026, "ICRC, ABRT", set()),
        (24100, 30026, "UNC", {("disk-failing", "watch")}),  # one of the two counts no hours: how long ago is not known
        (65536 + 400, 300, "UNC", {("disk-failing", "watch")}),  # the log's field has 16 bits
    ],
)
def test_a_read_that_failed_lately_counts_where_no_counter_has_it(now, then, why, expected):
    read = triage([("p", REPORT.format(now=now, then=then, why=why))])
    assert {(each.slug, each.severity) for each in read.situations} == expected
    assert read.good == (not expected)


def test_the_same_log_in_json():
    text = (
        '{"json_format_version": [1, 0], "smartctl": {"version": [7, 3]}, "device": {"name": "/dev/sdw", "type": "sat", "protocol": "ATA"}, "serial_number": "58L2K0QZFRED",'
        ' "smart_status": {"passed": true}, "power_on_time": {"hours": 24100}, "ata_smart_error_log": {"extended": {"count": 1, "table":'
        ' [{"error_number": 1, "lifetime_hours": 24026, "error_description": "Error: UNC at LBA = 0x71bde0 = 7454176"}]}}}'
    )
    read = triage([("p", text)])
    assert [(each.slug, each.severity) for each in read.situations] == [("disk-failing", "watch")]


def test_a_list_of_devices_in_json_says_that_it_is_one():
    text = '{"json_format_version": [1, 0], "smartctl": {"argv": ["smartctl", "--scan", "-j"]},\n "devices": [{"name": "/dev/sda", "type": "sat"}]}\n'
    read = triage([("p", text)])
    assert not read.good
    assert "lists devices" in " ".join(read.reads[0].notes)


TESTS = """Device Self Test Log for NVME device:nvme3n1
Current operation  : 0
Current Completion : 0%
Self Test Result[0]:
  Operation Result             : {newest}
  Self Test Code               : 2
  Valid Diagnostic Information : 0
  Power on hours (POH)         : 0x2f1
Self Test Result[1]:
  Operation Result             : {older}
  Self Test Code               : 2
  Power on hours (POH)         : 0x2a0
Self Test Result[2]:
  Operation Result             : 0xf
"""


@pytest.mark.parametrize(
    ("newest", "older", "expected"),
    [
        ("0", "0", set()),
        ("0x7", "0", {("disk-failing", "act")}),
        ("0", "0x6", set()),
        ("0x1", "0x5", {("disk-failing", "act")}),
        ("0x8", "0", set()),
    ],
)
def test_self_tests_of_an_nvme_disk(newest, older, expected):
    assert found_in(TESTS.format(newest=newest, older=older)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/dev/sda: HGST HUS726060ALE610: 41°C\n/dev/sdb: HGST HUS726060ALE610: drive is sleeping\n", set()),
        ("/dev/sda: HGST HUS726060ALE610: 74°C\n", {("disk-hot", "watch")}),
        ("/dev/sda: HGST HUS726060ALE610: 165°F\n", {("disk-hot", "watch")}),
        ("|/dev/sda|HGST HUS726060ALE610|41|C||/dev/sdb|HGST HUS726060ALE610|74|C|", {("disk-hot", "watch")}),
        ("|/dev/sda|HGST HUS726060ALE610|SLP|*|", set()),
    ],
)
def test_lines_of_hddtemp(text, expected):
    assert found_in(text) == expected
