"""Notices of monitors: each says which disk and what, words that nobody knows are raised, and a matter that is over is not."""

from __future__ import annotations

import pytest

from workflows.triage import triage

FIELDS = "Failure Type: SmartFailure\nDevice Name: /dev/sdq\nDevice Serial: ZX9900AB\nDevice Type: scsi\n"
QNAP = "[{0}] vault: [Storage & Snapshots] {1}\n"
IDRAC = "SeqNumber       = 88\nMessage ID      = PDR8\nCategory        = Storage\nSeverity        = {0}\nMessage         = {1}\n"


def raised(text: str) -> list[tuple[str, str]]:
    return [(found.slug, found.severity) for found in triage([("pasted", text)]).situations]


def test_a_notice_names_the_disk_by_its_serial():
    found = triage([("pasted", "Scrutiny SMART error (SmartFailure) detected on device: /dev/sdq\n" + FIELDS)])
    (one,) = found.situations
    assert (one.slug, one.severity, one.subject["serial"]) == ("disk-failing", "act", "ZX9900AB")
    assert not found.good


@pytest.mark.parametrize(
    ("sentence", "slug"),
    [
        ("Host: Disk 7 medium error. Run a bad block scan on the drive.", "disk-errors"),
        ("Host: Drive 7 plugged out.", "disk-missing"),
        ('Storage pool "2" has degraded.', "vdev-degraded"),
        ("Host: Disk 7 did something that no table has.", "unexplained"),
    ],
)
def test_a_line_of_a_nas_is_judged_by_its_sentence(sentence, slug):
    assert [found for found, _ in raised(QNAP.format("Warning", sentence))] == [slug]


def test_what_a_log_only_informs_of_is_no_trouble_and_no_proof_of_health():
    found = triage([("pasted", IDRAC.format("Informational", "Disk 4 in Backplane 1 was reset."))])
    assert not found.situations
    assert not found.good


def test_a_fault_in_the_log_of_a_management_controller_is_named_by_its_bay():
    assert raised(IDRAC.format("Critical", "Fault detected on Disk 4 in Backplane 1.")) == [("disk-failing", "act")]


def test_an_alert_that_is_resolved_is_not_raised():
    text = "[{0}:1] DiskFails (vault /dev/sdq)\nLabels:\n - alertname = SMARTDeviceHealthFailed\n - device = /dev/sdq\n"
    assert raised(text.format("FIRING")) == [("disk-failing", "act")]
    assert raised(text.format("RESOLVED")) == []


@pytest.mark.parametrize(
    ("text", "slug"),
    [
        ("Dear user,\n\nStorage Pool 2 on vault has degraded (1/6 drives have crashed).\n", "vdev-degraded"),
        ("Sehr geehrter Benutzer,\n\nDer Speicherpool 2 auf vault ist heruntergestuft.\n", "vdev-degraded"),
        ("Cher utilisateur,\n\nLe disque 3 sur vault est défaillant.\n", "disk-failing"),
        ("Estimado usuario,\n\nEl disco 3 en vault tiene sectores defectuosos.\n", "disk-errors"),
        ("NAS-Name: vault\nSchweregrad: Warnung\nMeldung: [Speicher] Host: Festplatte 3 wurde entfernt.\n", "disk-missing"),
        ("Nom du NAS: vault\nGravité: Erreur\nMessage: Le disque 4 est en panne.\n", "disk-failing"),
        (
            "Problem started at 01:02:03 on 2024.02.03\nProblem name: sdq: SMART test result is not passed\nHost: oss07\nSeverity: High\n",
            "disk-failing",
        ),
        ("oss07 needs attention, smartctl_device, sdq, SMART status = FAILED\n", "disk-failing"),
        ("Disk sdq of oss07, SMART: FAILING\n", "disk-failing"),
    ],
)
def test_a_mail_is_judged_in_the_language_and_form_of_its_sender(text, slug):
    assert [found for found, _ in raised(text)] == [slug]


@pytest.mark.parametrize(
    "text",
    [
        "Dear list,\n\nmy disk 4 makes a noise, what can I do?\n",
        "Problem: the pool is slow\n\nWhat can I do?\n",
        "Drive 3 has bad sectors on it, I think.\n",
        "Redundancy is critical, so I made a mirror.\n",
        "Resolved: sdq: SMART test result is not passed\nProblem has been resolved at 01:02:03 on 2024.02.03\nProblem name: sdq: SMART test result is not passed\n",
    ],
)
def test_words_of_people_and_what_is_over_raise_nothing(text):
    found = triage([("pasted", text)])
    assert not found.situations
    assert not found.good


@pytest.mark.parametrize(
    ("text", "slug"),
    [
        ("Speicherpool 1 auf LINDE ist heruntergestuft (Laufwerke: 4, aktiv: 3).", "vdev-degraded"),
        ("Le groupe de stockage 1 sur TILLEUL est dégradé.", "vdev-degraded"),
        ("El grupo de almacenamiento 1 de TILO está degradado.", "vdev-degraded"),
        ("Il pool di archiviazione 1 su TIGLIO è degradato.", "vdev-degraded"),
        ("LINDEN 上的存储池 1 已降级", "vdev-degraded"),
        ("Volume 2 auf LINDE ist abgestürzt.", "pool-down"),
        ("Volume 2 auf LINDE ist abgestürzt. Ziehen Sie kein Laufwerk ab.", "pool-down"),
    ],
)
def test_a_notice_in_another_language_says_how_the_pool_is(text: str, slug: str):
    answer = triage([("p", f"{text}\n")])
    assert [one.slug for one in answer.situations] == [slug]
    assert not answer.good


@pytest.mark.parametrize("text", ["Speicherpool 1 auf LINDE ist nicht heruntergestuft.", "Le groupe de stockage 1 n'est pas dégradé."])
def test_a_sentence_that_denies_it_is_no_notice_of_it(text: str):
    answer = triage([("p", f"{text}\n")])
    assert not answer.situations
    assert not answer.good


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("[node4: disk.ioMediumError:warning]: Medium error on disk 0b.01.11: op 0x28 sector 104538 SCSI:medium error - Unrecovered read error", "disk 0b.01.11"),
        ("CRITICAL: Medium error on disk 2.10.3: Unrecovered read error", "disk 2.10.3"),
        ("CRITICAL: disk 7 has failed", "disk 7"),
        ("CRITICAL: disk 7e has failed", "a disk that it does not name"),
    ],
)  # fmt: skip
def test_a_disk_is_named_by_its_whole_number_or_not(line, name):
    assert [found.title.partition(":")[0] for found in triage([("p", line)]).situations] == [name]
