"""One disk answers five times a second and reports no error: only the comparison with the disks beside it shows it."""

import pytest

NODE, DISKS = "oss06", 6
POOL = "ost_6"
SLOW = 2
LOAD = f"""#!/bin/sh
while :; do
    i=$(((i + 1) % 5))
    dd if=/dev/urandom of=/{POOL}/$i bs=128k count=64 conv=fsync 2>/dev/null
done
"""


@pytest.fixture(scope="module")
def loaded(stage, ann):
    members = " ".join(stage.machine.disk(n).by_id for n in range(DISKS))
    stage.machine.guest.create_pool(f"-o ashift=12 {POOL} raidz2 {members}")
    stage.enrol(ann)
    stage.until(lambda facts: facts["pools"], "there is a pool")
    stage.machine.slow(SLOW, iops=5)
    stage.machine.guest.put("/root/load", LOAD)
    stage.sh("systemd-run -q --unit=load timeout 900 sh /root/load")
    yield
    stage.machine.slow(SLOW)


def test_the_one_disk_that_is_slow_is_named_and_no_other(stage, ann, loaded):
    ann.until(lambda page: any(is_of_a_slow_disk(words) for words, _ in page.links), "a slow disk", "/", seconds=400)
    found = [words for words, _ in ann.page.links if is_of_a_slow_disk(words)]
    stage.keep("slow")
    print(found)
    leaf = {number: stage.machine.disk(number).by_id.rsplit("/", 1)[1] for number in range(DISKS)}
    assert any(leaf[SLOW] in words for words in found), found
    assert not [words for words in found for number, name in leaf.items() if number != SLOW and name in words]


def is_of_a_slow_disk(words: str) -> bool:
    return f"{POOL}: " in words and any(phrase in words for phrase in (" waits ", " slow I/Os", " was slow "))
