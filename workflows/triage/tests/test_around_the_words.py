"""More habits of people who paste: what stands before and behind the words of ZFS, and what is left of an output."""

from __future__ import annotations

import pytest

from workflows.triage import Triage, triage

STATUS = """  pool: lagoon
 state: DEGRADED
status: One or more devices could not be opened.  Sufficient replicas exist for
\tthe pool to continue functioning in a degraded state.
action: Attach the missing device and online it using 'zpool online'.
  scan: scrub repaired 0B in 00:10:00 with 0 errors on Sun Nov 15 06:54:41 2026
config:

\tNAME                      STATE     READ WRITE CKSUM
\tlagoon                    DEGRADED     0     0     0
\t  mirror-0                DEGRADED     0     0     0
\t    ata-P_01              ONLINE       0     0     0
\t    11223344556677889900  UNAVAIL      0     0     0  was /dev/sdq1

errors: No known data errors
"""
LABEL = """--------------------------------------------
LABEL {0}
--------------------------------------------
    version: 5000
    name: 'lagoon'
    state: 0
    txg: 4711
    pool_guid: 8877665544332211009
    hostid: 11259375
    hostname: 'elm'
    top_guid: 1234509876543210987
    guid: 2233445566778899001
    vdev_children: 1
    vdev_tree:
        type: 'disk'
        id: 0
        guid: 2233445566778899001
        path: '/dev/sdq1'
        whole_disk: 1
        ashift: 12
"""


def read(text: str) -> Triage:
    return triage([("paste", text)])


def slugs(answer: Triage) -> list[str]:
    return [found.slug for found in answer.situations]


def outcomes(answer: Triage) -> list[tuple[str, str]]:
    return [(read.source, read.outcome) for read in answer.reads if read.source]


@pytest.mark.parametrize(
    "before", ["error: The store could not be opened: ", "Nov 20 06:00:01 elm backup[77]: ", 'level=error msg: storage "lagoon": ', "ZFS: "]
)
def test_a_refusal_that_another_program_repeats_is_one_and_the_paste_is_not_good(before: str):
    answer = read(
        f"{before}cannot import 'lagoon': pool was previously in use from another system.\nLast accessed by elm (hostid=00abcdef) at Mon Nov  9 11:16:40 2026\n"
        "The pool can be imported, use 'zpool import -f' to import the pool.\n\n[    4.415782] ZFS: Loaded module v2.2.7-1, ZFS pool version 5000, ZFS filesystem version 5\n"
    )
    assert "refused-command" in slugs(answer)
    assert not answer.good


def test_backslashes_that_keep_the_ends_of_lines_are_no_part_of_them():
    answer = read("\n".join(f"{line} \\" if line else line for line in f"root@elm:~# zpool status\n{STATUS}".split("\n")))
    assert slugs(answer) == ["disk-missing"]
    assert outcomes(answer) == [("zpool_status", "read")]


def test_what_somebody_says_of_a_pool_in_a_line_of_his_own_is_no_name_of_a_pool():
    answer = read("pool: lagoon / mirror-0 (sdq, sdr) is ill\nstate: DEGRADED\n")
    assert not any("/" in pool.name for node in answer.fleet.nodes.values() for pool in node.pools_read)


@pytest.mark.parametrize("words", ["諦めて交換するか。", "Нужно заменить его", "I have a new disk here and will put it in."])
def test_words_right_below_a_tree_are_no_part_of_its_last_row(words: str):
    tree = STATUS.partition("config:\n\n")[2].partition("\n\nerrors")[0]
    answer = read(f"{tree}\n{words}\n")
    assert slugs(answer) == ["disk-missing"]


def test_a_note_that_mail_has_cut_is_still_joined():
    answer = read(STATUS.replace("  was /dev/sdq1", "  was\n/dev/sdq1"))
    assert slugs(answer) == ["disk-missing"]
    assert outcomes(answer) == [("zpool_status", "read")]


def test_a_scan_line_that_ends_within_is_cut_and_no_word_of_a_new_release():
    answer = read(STATUS.partition("  scan: ")[0] + "  scan: scrub repair")
    assert "unexplained" not in slugs(answer)
    assert outcomes(answer) == [("zpool_status", "partly")]


def test_a_label_that_is_indented_as_a_whole_and_cut_is_read_as_far_as_it_goes():
    text = "\n".join(f"    {line}" for line in (LABEL.format(0) + LABEL.format(1)).split("\n")[:-4])
    answer = read(f"[root@elm ~]# zdb -l /dev/sdq1\n{text}\n")
    assert outcomes(answer) == [("zdb_label", "partly")]
    assert not answer.good


def test_rows_of_zpool_import_with_nothing_above_them_are_judged_and_nothing_else_is_said():
    answer = read(
        "root@elm:~# zpool import\n\tlagoon           UNAVAIL  insufficient replicas\n  mirror-0         UNAVAIL  insufficient replicas\n"
        "    sdq3           UNAVAIL  invalid label\n    sdr3           UNAVAIL  invalid label\n"
    )
    assert slugs(answer) == ["import-blocked"]
    assert outcomes(answer) == [("zpool_import", "partly")]


def test_an_id_that_somebody_hid_is_not_known_and_is_no_new_word():
    answer = read(
        "   pool: lagoon\n     id: 88776655443322xxxx\n  state: ONLINE\n action: The pool can be imported using its name or numeric identifier.\n"
        " config:\n\n\tlagoon      ONLINE\n\t  mirror-0  ONLINE\n\t    sdq     ONLINE\n\t    sdr     ONLINE\n"
    )
    assert "unexplained" not in slugs(answer)
    assert outcomes(answer) == [("zpool_import", "partly")]
    assert not answer.good


def test_the_last_lines_of_the_debug_log_are_known_without_their_heading():
    answer = read(
        "1758708209   ffff8b7e01748000 spa_misc.c:2405:spa_import_progress_set_notes_impl(): 'lagoon' Loading vdev metadata\n"
        "1758708210   ffff8b7e01748000 spa_misc.c:416:spa_load_failed(): spa_load(lagoon, config trusted): FAILED: vdev_load failed [error=52]\n"
    )
    assert ("dbgmsg", "read") in outcomes(answer)
    assert not answer.good


def test_the_debug_log_that_zdb_prints_of_itself_has_no_times_and_is_read():
    answer = read(
        "# zdb -d -e -G lagoon\nI ran it with -A too, it is the same.\nzdb: can't open 'lagoon': Input/output error\n\n"
        "ZFS_DBGMSG(zdb) START:\nspa.c:5490:spa_import(): spa_import: importing lagoon\n"
        "spa_misc.c:393:spa_load_failed(): spa_load(lagoon, config trusted): FAILED: vdev_load failed [error=52]\nZFS_DBGMSG(zdb) END\n"
    )
    assert outcomes(answer) == [("refused", "read"), ("dbgmsg", "read")]
    assert {"refused-command", "import-blocked"} <= set(slugs(answer))
    assert not answer.good


@pytest.mark.parametrize("columns", ["NAME  STATE     READ WRI", "NAME  STATE     REA"])
def test_a_heading_that_ends_within_is_cut_and_no_column_of_a_new_release(columns: str):
    answer = read(f"{STATUS.partition('config:')[0]}config:\n\n\t{columns}\n")
    assert "unexplained" not in slugs(answer)
    assert outcomes(answer) == [("zpool_status", "partly")]


def test_properties_that_end_within_a_row_are_read_up_to_it():
    rows = "NAME    PROPERTY    VALUE    SOURCE\nlagoon  size        7.50G    -\nlagoon  capacity    97%      -\nlagoon  health      ONLINE   -\nlag"
    answer = read(f"root@elm:~# zpool get all lagoon\n{rows}\n")
    assert slugs(answer) == ["pool-filling"]
    assert outcomes(answer) == [("zpool_get", "partly")]


def test_a_refusal_between_fences_on_one_line_is_one():
    answer = read(
        "It would not let me:\n```cannot replace sdq with /dev/sdr: new device has a different optimal sector size; use the option '-o ashift=N' to override the optimal size```\n"
    )
    assert slugs(answer) == ["refused-command"]


def test_the_kernels_line_of_a_cpu_with_a_uid_is_part_of_a_stack():
    answer = read(
        "[   79.030700] VERIFY3S(err, ==, ENOENT) failed (52 == 2)\n[   79.030762] PANIC at dsl_pool.c:491:dsl_pool_open()\n"
        "[   79.030779] Showing stack for process 2680\n[   79.030792] CPU: 3 UID: 0 PID: 2680 Comm: zpool Tainted: P           OE       6.12.0-1 #1\n"
    )
    assert "unexplained" not in slugs(answer)
    assert "kernel-errors" in slugs(answer)


def test_a_label_of_a_destroyed_pool_is_noted():
    destroyed = read(LABEL.format(0).replace("state: 0", "state: 2"))
    assert any("destroyed" in note for one in destroyed.reads for note in one.notes)
    assert not any("destroyed" in note for one in read(LABEL.format(0)).reads for note in one.notes)
    assert not destroyed.good


def test_counts_and_whole_fields_in_bold_are_what_they_are_without_it():
    plain = STATUS.replace("ONLINE       0     0     0", "ONLINE       0     0     7")
    stressed = plain.replace("0     7", "0   **7**").replace("status: One", "**status: One").replace("degraded state.", "degraded state.**")
    assert [(one.source, one.outcome) for one in read(stressed).reads] == [("zpool_status", "read")]
    assert slugs(read(stressed)) == slugs(read(plain))


def test_no_disk_is_replaced_where_the_text_ends_within_its_vdev_and_all_that_is_seen_of_it_counts_errors():
    """The others may count as well, and then it is what they share."""
    head, _, _ = STATUS.partition("\t    ata-P_01")
    first = "\t    ata-P_01              DEGRADED     0     0   542  too many errors\n"
    cut, whole = (
        read(f"{head}{first}\t    ata-P_02              DEGRADED"),
        read(f"{head}{first}\t    ata-P_02              ONLINE       0     0     0\n\nerrors: No known data errors\n"),
    )
    assert "replace" not in {cure.kind for one in cut.situations for cure in one.cures}
    assert "replace" in {cure.kind for one in whole.situations for cure in one.cures}


def test_dots_below_a_command_stand_for_an_output_that_was_not_pasted():
    dots, *_ = read("# zdb -hhe lagoon\n...\n2026-06-14.00:24:08 zpool scrub lagoon\n  history command: 'zpool scrub lagoon'\n").reads
    assert (dots.outcome, dots.source) == ("left out", "")


def test_the_title_of_a_refusal_reads_as_a_sentence():
    (refused,) = read("cannot clear errors for lagoon: I/O error\n").situations
    assert refused.title == "clear errors for lagoon was refused"
