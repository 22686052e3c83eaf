"""`zpool list` in every form: what is not ONLINE is never good, and what the tree says differently is the finding."""

from __future__ import annotations

import pytest

from workflows.triage import triage

TREE = "  pool: ost_4\n state: {0}\nconfig:\n\n\tNAME   STATE  READ WRITE CKSUM\n\tost_4  {0}     0     0     0\n\t  sda  ONLINE     0     0     0\n\nerrors: No known data errors\n"
LISTED = {
    "heading": "NAME    SIZE  ALLOC   FREE  CKPOINT  EXPANDSZ   FRAG    CAP  DEDUP    HEALTH  ALTROOT\nost_4  3.62T  1.20T  2.42T        -         -     5%    33%  1.00x  {}  -\n",
    "old": "NAME    SIZE  ALLOC   FREE    CAP  DEDUP  HEALTH  ALTROOT\nost_4  3.62T  1.20T  2.42T    33%  1.00x  {}  -\n",
    "two-columns": "NAME   HEALTH\nost_4  {}\n",
    "rows": "ost_4\t3.62T\t1.20T\t2.42T\t-\t-\t5%\t33%\t1.00x\t{}\t-\n",
    "rows-below": "# zpool list -H\nost_4\t3.62T\t1.20T\t2.42T\t-\t-\t5%\t33%\t1.00x\t{}\t-\n",
    "nothing-known": "ost_4\t-\t-\t-\t-\t-\t-\t-\t-\t{}\t-\n",
    "chosen": "# zpool list -Ho name,health\nost_4\t{}\n",
    "exact": "# zpool list -Hp\nost_4\t3985729650688\t1319413953331\t2666315697357\t-\t-\t5\t33\t1.00\t{}\t-\n",
    "exact-v": "# zpool list -vHp\nost_4\t3985729650688\t1319413953331\t2666315697357\t-\t-\t5\t33\t1.00\t{}\t-\n\tsda\t3985729650688\t-\t-\t-\t-\t-\t-\t-\tONLINE\n",
    "json": '# zpool list -j\n{{"output_version":{{"command":"zpool list","vers_major":0,"vers_minor":1}},"pools":{{"ost_4":{{"name":"ost_4","type":"POOL","state":"{0}","pool_guid":"12","properties":{{"capacity":{{"value":"33%"}},"health":{{"value":"{0}"}}}}}}}}}}\n',
}
SLUGS = {
    "DEGRADED": "vdev-degraded",
    "FAULTED": "pool-down",
    "UNAVAIL": "pool-down",
    "SUSPENDED": "pool-suspended",
    "WOBBLY": "unexplained",
}


@pytest.mark.parametrize("state", SLUGS)
@pytest.mark.parametrize("form", LISTED)
def test_a_pool_that_zpool_list_does_not_call_online_is_not_good_in_any_form(form, state):
    if state == "WOBBLY" and form in ("rows", "nothing-known"):
        pytest.skip("a row without a heading and a command is known by its state alone")
    found = triage([("p", LISTED[form].format(state))])
    assert [(s.slug, s.severity) for s in found.situations] == [(SLUGS[state], "act")]
    assert not found.good


@pytest.mark.parametrize("state", ["DEGRADED", "FAULTED", "UNAVAIL", "SUSPENDED"])
@pytest.mark.parametrize("form", LISTED)
def test_what_zpool_list_and_the_tree_say_differently_is_the_finding(form, state):
    found = triage([("p", LISTED[form].format(state)), ("q", TREE.format("ONLINE"))])
    (one,) = [s for s in found.situations if s.severity == "act"]
    assert (one.slug, one.gate, one.title) == (SLUGS[state], True, f"ost_4: zpool list says {state}, zpool status says ONLINE")
    assert not found.good


@pytest.mark.parametrize("form", LISTED)
def test_a_pool_that_every_text_calls_online_is_good_where_its_tree_is_one_of_them(form):
    assert triage([("p", LISTED[form].format("ONLINE")), ("q", TREE.format("ONLINE"))]).good
    alone = triage([("p", LISTED[form].format("ONLINE"))])
    assert (alone.situations, alone.good) == ((), False)
    assert "`zpool status -P -p` does." in alone.not_good_because[0]


def test_a_health_without_a_name_is_of_a_pool_that_is_not_named():
    for entry in (
        "HEALTH\nSUSPENDED\n",
        "# zpool list -H -o health\nSUSPENDED\n",
        "# zpool list -H -o health tank dozer\nONLINE\nSUSPENDED\n",
    ):
        (one,) = triage([("p", entry)]).situations
        assert (one.slug, one.title) == ("pool-suspended", "a pool that is not named is suspended")


@pytest.mark.parametrize(
    "entry",
    [
        "# zpool list -H -o health tank\nSUSPENDED\n",
        "# zpool list -Ho health tank\nSUSPENDED\n",
        "# zpool list -o health tank\nHEALTH\nSUSPENDED\n",
        "# zpool list -Hp -o size,health tank\n1000\tSUSPENDED\n",
    ],
)
def test_a_health_without_a_name_is_of_the_one_pool_that_its_command_names(entry):
    (one,) = triage([("p", entry)]).situations
    assert (one.slug, one.title, one.subject["pool"]) == ("pool-suspended", "tank is suspended", "tank")
    well = triage([("p", entry.replace("SUSPENDED", "ONLINE"))])
    assert (well.situations, well.good) == ((), False)


def test_a_member_that_zpool_list_calls_faulted_and_the_tree_does_not_is_the_finding():
    listed = "NAME    SIZE  ALLOC   FREE  CKPOINT  EXPANDSZ   FRAG    CAP  DEDUP    HEALTH  ALTROOT\nost_4  3.62T  1.20T  2.42T  -  -  5%  33%  1.00x  ONLINE  -\n  sda  3.62T  -  -  -  -  -  -  -  FAULTED\n"
    (one,) = [s for s in triage([("p", listed), ("q", TREE.format("ONLINE"))]).situations if s.severity == "act"]
    assert one.title == "sda of ost_4: zpool list says FAULTED, zpool status says ONLINE"


@pytest.mark.parametrize("command", ["zpool list", "zpool list -v", "zpool status", "zpool iostat -v", "zpool get all", "zpool import"])
def test_no_pool_is_not_good_and_says_what_to_ask_next(command):
    text = "no pools available to import" if command == "zpool import" else "no pools available"
    for text_ in (f"# {command}\n{text}\n", f"{text}\n"):
        found = triage([("p", text_)])
        assert not found.good
        assert not found.situations
        assert any("zpool import" in note for read in found.reads for note in read.notes)
    assert not triage([("p", '{"output_version":{"command":"zpool list","vers_major":0,"vers_minor":1},"pools":{}}\n')]).good
