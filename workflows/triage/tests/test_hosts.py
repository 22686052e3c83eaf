"""Outputs of several hosts in one paste, and of one host whose prompt stands above some of them only."""

from __future__ import annotations

import pytest

from workflows.triage import Triage, triage

SLUG = "foreign-pool-imported-elsewhere"
TREE = "\tNAME        STATE     READ WRITE CKSUM\n\tjuniper     {0}       0     0     0\n\t  mirror-0  {0}       0     0     0\n\t    {1}-a   ONLINE       0     0     0\n\t    {1}-b   {2}     0     0     0\n"
SHOWN = "  pool: juniper\n state: ONLINE\n  scan: scrub repaired 0B in 00:10:00 with 0 errors on Sun Nov 15 06:54:41 2026\nconfig:\n\n{0}\nerrors: No known data errors\n"
LISTED = """   pool: juniper
     id: 5566778899001122334
  state: ONLINE
 action: The pool can be imported using its name or numeric identifier.
 config:

\tjuniper     ONLINE
\t  mirror-0  ONLINE
\t    {0}-a   ONLINE
\t    {0}-b   ONLINE
"""
LIST = "NAME      SIZE  ALLOC   FREE  EXPANDSZ   FRAG    CAP  DEDUP  HEALTH  ALTROOT\njuniper  3.62T   120G  3.51T         -     1%     3%  1.00x  ONLINE  -\n"


def status(names: str) -> str:
    return SHOWN.format(TREE.format("ONLINE", names, "ONLINE"))


def read(text: str) -> Triage:
    return triage([("paste", text)])


def found(text: str) -> list[tuple[str, str]]:
    return [(one.slug, one.severity) for one in read(text).situations if one.slug == SLUG]


@pytest.mark.parametrize(
    "shown", [f"root@elm:~# zpool status\n{status('sd')}", f"[root@elm ~]# zpool list\n{LIST}"], ids=["its tree", "a list"]
)
def test_a_pool_that_one_host_lists_for_import_while_another_one_shows_it_is_no_good_paste(shown: str):
    answer = read(f"{shown}root@oak:~# zpool import\n{LISTED.format('sd')}")
    assert [(one.slug, one.severity, one.sure) for one in answer.situations if one.slug == SLUG] == [(SLUG, "watch", False)]
    assert not answer.good


def test_where_both_show_it_imported_it_is_the_gravest():
    both = f"[root@elm ~]# zpool list\n{LIST}[root@elm ~]# ssh oak zpool import\n{LISTED.format('sd')}[root@elm ~]# ssh oak zpool import juniper\n[root@elm ~]# ssh oak zpool list\n{LIST}"
    assert found(both) == [(SLUG, "act")]


def test_a_pool_that_was_exported_first_and_one_with_other_disks_and_one_of_another_name_are_none_of_it():
    moved = f"root@elm:~# zpool status\n{status('sd')}root@elm:~# zpool export juniper\nroot@oak:~# zpool import\n{LISTED.format('sd')}"
    others = f"root@elm:~# zpool status\n{status('ata-QX')}root@oak:~# zpool import\n{LISTED.format('ata-ZZ')}"
    same_links = f"root@elm:~# zpool status\n{status('ata-QX')}root@oak:~# zpool import\n{LISTED.format('ata-QX')}"
    named = f"root@elm:~# zpool status\n{status('sd')}root@oak:~# zpool import\n{LISTED.format('sd').replace('juniper', 'spruce ')}"
    assert [found(text) for text in (moved, others, named, same_links)] == [[], [], [], [(SLUG, "watch")]]


def test_an_output_without_a_prompt_about_the_pool_of_the_only_host_is_of_that_host_and_superseded():
    text = (
        f"It began so:\n\n{TREE.format('DEGRADED', 'sd', 'UNAVAIL')}\nThen I put the disk back.\n\nroot@elm:~# zpool status\n{status('sd')}"
    )
    answer = read(text)
    assert list(answer.fleet.nodes) == ["elm"]
    assert len(answer.fleet.nodes["elm"].pools_read) == 1


def test_with_two_hosts_an_output_without_a_prompt_is_nobodys():
    text = f"{TREE.format('DEGRADED', 'sd', 'UNAVAIL')}\nroot@elm:~# zpool status\n{status('sd')}root@oak:~# zpool status\n{status('sd')}"
    assert set(read(text).fleet.nodes) == {"pasted", "elm", "oak"}


BY_ID = SHOWN.format(TREE.format("ONLINE", "wwn-0x5000c500a1b2c3d", "ONLINE"))
BAYS = SHOWN.format(TREE.format("ONLINE", "shelf1", "ONLINE"))


def test_two_hosts_that_show_one_pool_imported_on_the_same_disks_are_the_gravest_and_never_good():
    answer = read(f"root@elm:~# zpool status\n{BY_ID}root@oak:~# zpool status\n{BY_ID}")
    twice = next(one for one in answer.situations if one.slug == SLUG)
    assert (twice.severity, twice.gate, twice.sure) == ("act", True, False)
    assert not answer.good


@pytest.mark.parametrize(
    ("shown", "severities"),
    [(BAYS, ["watch"]), (status("sd").replace("sd-", "sd"), []), (BY_ID.replace("3d-a", "xxxx").replace("3d-b", "xxxx"), [])],
    ids=["names that people gave", "names of the kernel", "names made unreadable"],
)
def test_what_two_hosts_call_alike_says_how_sure_it_is_that_it_is_one_pool(shown: str, severities: list[str]):
    text = f"root@elm:~# zpool status\n{shown}root@oak:~# zpool status\n{shown}"
    assert [severity for _, severity in found(text)] == severities


def test_a_pool_that_was_moved_and_one_of_another_host_with_other_disks_are_not_imported_twice():
    moved = f"root@elm:~# zpool status\n{BY_ID}root@elm:~# zpool export juniper\nroot@oak:~# zpool status\n{BY_ID}"
    other = f"root@elm:~# zpool status\n{BY_ID}root@oak:~# zpool status\n{BY_ID.replace('a1b2', 'ffff')}"
    assert [found(text) for text in (moved, other)] == [[], []]


def test_hosts_that_somebody_numbers_above_their_outputs_are_two():
    answer = read(f"node 1:\n\n{BY_ID}\nNode 2:\n\n{BY_ID}")
    assert set(answer.fleet.nodes) == {"node 1", "Node 2"}
    assert [one.severity for one in answer.situations if one.slug == SLUG] == ["act"]
    assert set(read(f"node 1:\n\n{BY_ID}").fleet.nodes) == {"pasted"}
