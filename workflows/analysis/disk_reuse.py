"""Whether a used disk may go back into a pool: what it says of itself, how it is formatted beside the members of that pool, how old its self-test is.

Shown before a disk is wiped and kept in the plan. Nothing here refuses the wipe: a disk that is sent back is wiped too.
"""

from collections.abc import Iterator

from workflows.facts import DiskFacts, NodeFacts, PoolFacts, SelfTestFacts, known

PLAIN_BLOCKS = (512, 4096)  # others carry checksums of a RAID controller, and only sg_format takes them off
LOG_HOURS_MAX = 65535  # the self-test logs of SCSI and of ATA disks keep the hours in 16 bits
TEST_HOURS_MAX = 30 * 24
HOURS_OF_A_DAY = 24


def sentence(disk: DiskFacts, node: NodeFacts | None, pool: PoolFacts | None) -> str:
    """For whoever takes the disk out of the bay afterwards. `pool` is the one that it may go back to; None where it has none."""
    reasons = [*_ill(disk), *_formatting(disk), *(_beside(disk, node, pool) if node is not None and pool is not None else ())]
    open_questions = tuple(_not_known(disk))
    tested = test_age(disk)
    if reasons:
        return f"Do not put it back into a pool: {'; '.join(reasons)}. {tested}"
    if open_questions:
        return f"Whether it may go back into a pool is not known: {'; '.join(open_questions)}. Do not put it back before it is. {tested}"
    return f"Nothing that it reports speaks against using it again. {tested}"


def _ill(disk: DiskFacts) -> Iterator[str]:
    found = disk.condition.findings if known(disk.condition) else ()
    yield from (one.words for one in found if one.kind in ("failing", "worn"))
    if known(disk.health) and not disk.health.passed and not found:
        yield f"it says of itself: {disk.health.text}"


def _formatting(disk: DiskFacts) -> Iterator[str]:
    if known(disk.logical_block_bytes) and disk.logical_block_bytes not in PLAIN_BLOCKS:
        yield (
            f"its blocks have {disk.logical_block_bytes} bytes, as a RAID controller formats them: `sg_format --format --size=512` makes plain ones, takes hours "
            "and erases it"
        )


def _beside(disk: DiskFacts, node: NodeFacts, pool: PoolFacts) -> Iterator[str]:
    """What the members of its pool are, and it is not."""
    tops = pool.tops if known(pool.tops) else ()
    for _, top in tops:
        if known(top.ashift) and known(disk.logical_block_bytes) and PLAIN_BLOCKS[0] <= 1 << top.ashift < disk.logical_block_bytes:
            yield f"its blocks have {disk.logical_block_bytes} bytes, and {top.name} of {pool.name} writes {1 << top.ashift}"
    wwids = {leaf.wwid for _, top in tops for leaf in top.leaves() if known(leaf.wwid)}
    members = [one for one in (node.disks if known(node.disks) else ()) if known(one.wwid) and one.wwid in wwids and one.wwid != disk.wwid]
    types = {one.protection_type for one in members if known(one.protection_type)}
    if known(disk.protection_type) and types and disk.protection_type not in types:
        wanted = sorted(types)[0]
        how = "`sg_format --format --fmtpinfo=0` takes it off" if wanted == 0 else "sg_format formats it alike"
        yield (
            f"it is formatted with protection information (DIF) of type {disk.protection_type}, and the members of {pool.name} with type {wanted}: {how}, takes hours "
            "and erases it"
        )


def _not_known(disk: DiskFacts) -> Iterator[str]:
    if not known(disk.logical_block_bytes):
        yield f"the size of its blocks is not known ({disk.logical_block_bytes.reason.rstrip('.')})"
    if not known(disk.health):
        yield f"it gives no verdict of its own ({disk.health.reason.rstrip('.')})"
    if not known(disk.condition):
        yield f"what it logged was not read ({disk.condition.reason.rstrip('.')})"
    elif not known(disk.condition.self_tests) and not disk.condition.has_no_self_test:
        yield f"its self-tests are not known ({disk.condition.self_tests.reason.rstrip('.')})"


def test_age(disk: DiskFacts) -> str:
    """How long ago, in hours of use, its last self-test ended, and whether a new one is due."""
    if known(disk.condition) and disk.condition.has_no_self_test:
        return "It has no self-test."
    if not known(disk.condition) or not known(disk.condition.self_tests):
        return "Run `smartctl -t long` on it before it is used again."
    test = disk.condition.last_test
    if test is None:
        return "No self-test ended on it so far: run `smartctl -t long` before it is used again."
    hours = _hours_since(disk, test)
    result = f"Its last self-test ({test.what}) says: {test.status}"
    if hours is None:
        return f"{result}. How long ago that was is not known: run `smartctl -t long` before it is used again."
    when = f"{hours} hours of use ago" if hours < 2 * HOURS_OF_A_DAY else f"{hours // HOURS_OF_A_DAY} days of use ago"
    return f"{result}, {when}{': run `smartctl -t long` before it is used again' if hours > TEST_HOURS_MAX else ''}."


def _hours_since(disk: DiskFacts, test: SelfTestFacts) -> int | None:
    """None where the log does not say: it has 16 bits for the hours of a SCSI or ATA disk, which an old disk has used up."""
    if not known(disk.condition) or test.hours is None or not known(disk.condition.power_on_hours):
        return None
    now = disk.condition.power_on_hours
    if now < test.hours or (now >= LOG_HOURS_MAX and not disk.is_nvme):
        return None
    return now - test.hours
