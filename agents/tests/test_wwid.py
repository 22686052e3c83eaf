import random

import pytest

from agents.domain.wwid import by_id_path, normalise, nvme_serial, strip_partition, suggest_lu

SEAGATE = "naa:5000c500a65b207b"
NVME = "nvme:144d-5335475831-53616d73756e6720535344-00000001"
IDENTIFY = f"ATA     {'WDC WD40EFRX-68N32N0':<40}{'WD-WCC7K0ABCDEF':>20}"  # as libata makes its T10 name


@pytest.mark.parametrize(
    "raw",
    [
        "35000c500a65b207b",
        "scsi-35000c500a65b207b",
        "wwn-0x5000c500a65b207b",
        "0x5000c500a65b207b",
        "naa.5000c500a65b207b",
        "5000c500a65b207b",
        "5000C500A65B207B",
        "dm-uuid-mpath-35000c500a65b207b",
        "mpath-35000c500a65b207b",
        "/dev/disk/by-id/wwn-0x5000c500a65b207b",
        "/dev/disk/by-id/scsi-35000c500a65b207b-part1",
        "scsi-35000c500a65b207b-part9",
        "naa.5000c500a65b207b\n",
        "c0t5000C500A65B207Bd0s0",
        "id1,sd@n5000c500a65b207b/a",
        SEAGATE,
    ],
)
def test_it_brings_every_spelling_of_one_disk_together(raw):
    assert normalise(raw) == SEAGATE


def test_it_knows_a_naa_6_name_by_its_32_digits():
    digits = "6" + "0050768018f001234" + "0000000000000a"
    assert len(digits) == 32
    assert normalise("3" + digits) == normalise("scsi-3" + digits) == normalise("wwn-0x" + digits) == f"naa:{digits}"


def test_it_does_not_strip_a_3_from_sixteen_bare_digits():
    assert normalise("35000c500a65b207") == "naa:35000c500a65b207"


@pytest.mark.parametrize(
    ("raw", "canonical"),
    [
        ("nvme-eui.0025385b11b0d0a1", "eui:0025385b11b0d0a1"),
        ("eui.0025385B11B0D0A1", "eui:0025385b11b0d0a1"),
        ("20025385b11b0d0a1", "eui:0025385b11b0d0a1"),
        ("t10.ATA     ST4000NM0035-1V4107             ZC1ABCDE", "t10:ATA     ST4000NM0035-1V4107             ZC1ABCDE"),
        ("scsi-1ATA_ST4000NM0035-1V4107_ZC1ABCDE", "t10:ATA_ST4000NM0035-1V4107_ZC1ABCDE"),
        ("uuid.4E3A0B1C-0000-4000-8000-0123456789AB", "uuid:4e3a0b1c-0000-4000-8000-0123456789ab"),
        ("ata-WDC_WD40EFRX-68N32N0_WD-WCC7K0ABCDEF", "ata:WDC_WD40EFRX-68N32N0:WD-WCC7K0ABCDEF"),
        ("ata-ST4000NM0035-1V4107_ZC1ABCDE-part1", "ata:ST4000NM0035-1V4107:ZC1ABCDE"),
        ("scsi-SATA_ST4000NM0035-1V4_ZC1ABCDE", "ser:ST4000NM0035-1V4:ZC1ABCDE"),
        ("scsi-SSEAGATE_ST10000NM0256_ZA21ABCD", "ser:ST10000NM0256:ZA21ABCD"),
        ("nvme-Samsung_SSD_980_PRO_1TB_S5GXNX0R123456", "ser:Samsung_SSD_980_PRO_1TB:S5GXNX0R123456"),
        ("nvme-Samsung_SSD_980_PRO_1TB_S5GXNX0R123456_1", "ser:Samsung_SSD_980_PRO_1TB:S5GXNX0R123456"),
        (NVME.replace(":", "."), NVME),
        (f"/dev/disk/by-id/nvme-{NVME.replace(':', '.')}-part1", NVME),
        ("t10." + IDENTIFY, "ata:WDC_WD40EFRX-68N32N0:WD-WCC7K0ABCDEF"),
        ("t10.ATA     SLOTLAB SSD 512                         ZA13120X            ", "ata:SLOTLAB_SSD_512:ZA13120X"),
        ("t10.ATA     SLOTLAB SSD 512                         ZA13120X", "ata:SLOTLAB_SSD_512:ZA13120X"),
    ],
)
def test_it_names_what_has_no_naa_name(raw, canonical):
    assert normalise(raw) == canonical
    assert normalise(canonical) == canonical


@pytest.mark.parametrize(
    "raw",
    [
        "",
        "sdfl",
        "/dev/sdfl1",
        "6:0:176:0",
        "14718944552882581455",  # a vdev guid
        "raidz2-0",
        "pci-0000:b3:00.0-sas-0x5000cca273a7d9e9-lun-0",  # a path, and the address in it is a port's
        "naa.0000000000000000",
        "0x0",
        "mpatha",
        "U12",
        "/sys/class/enclosure/6:0:89:0/68",
    ],
)
def test_it_refuses_what_is_no_identity(raw):
    assert normalise(raw) is None


def test_a_devid_of_the_seed_is_the_disk_without_its_partition():
    assert normalise("scsi-35000cca273a7d9e8-part1") == "naa:5000cca273a7d9e8"


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("sdfl1", ("sdfl", 1)),
        ("/dev/sdfl1", ("/dev/sdfl", 1)),
        ("sdfl", ("sdfl", None)),
        ("scsi-35000c500a65b207b-part1", ("scsi-35000c500a65b207b", 1)),
        ("/dev/disk/by-id/wwn-0x5000c500a65b207b", ("/dev/disk/by-id/wwn-0x5000c500a65b207b", None)),
        ("nvme0n1p1", ("nvme0n1", 1)),
        ("nvme0n1", ("nvme0n1", None)),
        ("mpatha-part1", ("mpatha", 1)),
        ("ada5p1", ("ada5", 1)),
        ("U12-part1", ("U12", 1)),
        ("draid2-0-0", ("draid2-0-0", None)),
        ("14718944552882581455", ("14718944552882581455", None)),
        ("", ("", None)),
    ],
)
def test_it_strips_a_partition_by_the_rule_of_its_kind(name, parts):
    assert strip_partition(name) == parts


@pytest.mark.parametrize(
    ("wwid", "link"),
    [
        (SEAGATE, "wwn-0x5000c500a65b207b"),
        ("eui:0025385b11b0d0a1", "nvme-eui.0025385b11b0d0a1"),
        ("eui:000000000000000600a0752342269630", "nvme-eui.000000000000000600a0752342269630"),
        ("uuid:4e3a0b1c-0000-4000-8000-0123456789ab", "nvme-uuid.4e3a0b1c-0000-4000-8000-0123456789ab"),
        (NVME, "nvme-nvme.144d-5335475831-53616d73756e6720535344-00000001"),
        ("ata:WDC_WD40EFRX-68N32N0:WD-WCC7K0ABCDEF", "ata-WDC_WD40EFRX-68N32N0_WD-WCC7K0ABCDEF"),
    ],
)
def test_the_link_that_a_write_names_leads_back_to_the_same_identity(wwid, link):
    assert by_id_path(wwid) == f"/dev/disk/by-id/{link}"
    assert normalise(link) == normalise(f"/dev/disk/by-id/{link}-part1") == wwid


@pytest.mark.parametrize(
    "wwid",
    ["", "sdfl", "naa:../../sda", "ata:../../sda:x", "ata:a/b:c", "ser:ST10000NM0256:ZA21ABCD", "t10:ATA_X_1", "uuid:..", "eui:0025385b"],
)
def test_an_identity_without_a_link_of_its_own_has_no_path_that_a_write_may_use(wwid):
    assert by_id_path(wwid) is None


def test_a_serial_number_is_read_out_of_the_name_of_a_namespace():
    assert nvme_serial(NVME) == "S5GX1"
    assert nvme_serial("nvme:144d-zz-00-00000001") is None
    assert normalise("nvme.144d-ff-53616d-00000001") is None


@pytest.mark.parametrize(
    ("port", "lu"),
    [
        ("pci-0000:b3:00.0-sas-0x5000cca273a7d9e9-lun-0", "naa:5000cca273a7d9e8"),
        ("0x5000c500a665b1b1", "naa:5000c500a665b1b3"),
        ("5000c500a670c5f9", "naa:5000c500a670c5fb"),
        ("0x500605b0000272bf", None),  # a vendor whose habit we do not know
        ("sdfl", None),
    ],
)
def test_a_port_address_suggests_the_disk_behind_it(port, lu):
    assert suggest_lu(port) == lu


def test_no_text_makes_it_raise():
    rng = random.Random(1)
    alphabet = "0123456789abcdefnaSswcis-_.:x/p \n²"
    for _ in range(5_000):
        text = "".join(rng.choice(alphabet) for _ in range(rng.randrange(40)))
        canonical = normalise(text)
        assert canonical is None or normalise(canonical) == canonical
        strip_partition(text)
        suggest_lu(text)
