"""What the pool page says in numbers, of genuine steps and of a pool nobody measured."""

from app.fleet.pages import figures
from workflows.facts import PoolFacts, Unknown
from workflows.facts.tests.played import played


def of(name):
    return figures.of(played(name).pools[0], played(name))


def test_the_slow_disk_stands_first_and_out():
    answer = of("slow-disk/1-writing")
    assert answer["fill"] == "1.8 MiB of 2.8 GiB, 0 % full, free space fragmented by 0 %"
    first, *others = answer["waits"]
    assert (first["name"], first["write"], first["slow"], first["outlier"]) == ("wwn-0x5000c500a65b204b-part1", "342 ms", 9, True)
    assert not any(line["outlier"] for line in others)


def test_a_speed_is_called_an_average_while_nobody_looked_twice():
    assert of("disk-removed/6-resilver-running")["scans"] == [
        "Resilver: 2.4 MiB/s on average since it began; its speed now takes a second look."
    ]


def test_sixty_disks_are_cut_to_those_that_wait_longest():
    answer = of("sixty-disks/1-healthy")
    assert (len(answer["waits"]), answer["leaves"]) == (figures.LEAVES_SHOWN, 60)


def test_what_nobody_measured_is_said_so():
    unknown = Unknown("zpool_status was not collected.")
    answer = figures.of(PoolFacts("ost_0", unknown, "ONLINE", unknown, unknown, unknown), played("healthy-raidz2"))
    assert (answer["waits"], answer["waits_unknown"], answer["fill"]) == (
        [],
        "The node's zpool iostat was not read.",
        "The node's zpool list was not read.",
    )
