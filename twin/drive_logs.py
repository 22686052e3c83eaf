"""`sg_logs --page=…` and `sdparm --get=…` of a SAS disk, as sg3_utils 1.46 and sdparm 1.12 print them."""

from collections.abc import Callable

from twin.answer import Answer
from twin.model import Disk

ILLEGAL_REQUEST, INVALID_OPCODE = 5, 9
MODES = ("WCE", "EN_BMS")
NO_BACKGROUND_SCAN = "EN_BMS not found in Background control (SBC) mode page\n"
HOURS = 31 * 730
READ_BYTES, WRITTEN_BYTES = 214 * 10**12, 96 * 10**12


TEST_SECONDS = 120


def log_page(disk: Disk, page: str, now: float) -> Answer:
    head = f"    {disk.vendor:<8}  {disk.model:<16}  {disk.rev:<4}\n"
    if disk.smart.passed is None or page not in PAGES:
        return Answer(INVALID_OPCODE, head, "log_sense: not supported\nsg_logs failed: Illegal request, Invalid opcode\n")
    return Answer(0, head + (_self_tests(disk, now) if page == "0x10" else PAGES[page](disk)))


def _errors(name: str, code: int, fast: int, retried: int, processed: int, uncorrected: int) -> str:
    return (
        f"{name} error counter page  [0x{code:x}]\n"
        f"  Errors corrected without substantial delay = {fast}\n"
        "  Errors corrected with possible delays = 0\n"
        f"  Total rewrites or rereads = {retried}\n"
        f"  Total errors corrected = {fast + retried}\n"
        f"  Total times correction algorithm processed = {fast}\n"
        f"  Total bytes processed = {processed} [{processed // 10**12} TB]\n"
        f"  Total uncorrected errors = {uncorrected}\n"
    )


def corrected(disk: Disk) -> int:
    """Seagate counts what its ECC mends on the fly, HGST does not: high numbers are a habit of the model."""
    if disk.smart.corrected:
        return disk.smart.corrected
    return 368_211_904 if disk.vendor == "SEAGATE" and disk.rotational else 2170 if disk.rotational else 0


def _write(disk: Disk) -> str:
    return _errors("Write", 2, 0, 3, WRITTEN_BYTES, 0)


def _read(disk: Disk) -> str:
    return _errors("Read", 3, corrected(disk), 7, READ_BYTES, disk.smart.uncorrected)


def _verify(disk: Disk) -> str:
    return _errors("Verify", 5, 0, 0, 0, 0)


def _non_medium(disk: Disk) -> str:
    return "Non-medium error page  [0x6]\n  Non-medium error count = 12\n"


def _self_tests(disk: Disk, now: float) -> str:
    """The newest first. One that was begun runs for two minutes and has the result that this disk always has."""
    result = "another segment in self test failed [7]" if disk.smart.self_test_failed else "completed without error [0]"
    tests = [(HOURS - 90, result)]
    if disk.smart.test_began_at:
        runs = now < disk.smart.test_began_at + TEST_SECONDS
        tests.insert(0, (HOURS, "self test in progress [15]" if runs else result))
    return "Self-test results page  [0x10]\n" + "".join(_entry(i, *test) for i, test in enumerate(tests, 1))


def _entry(number: int, hours: int, result: str) -> str:
    return (
        f"  Parameter code = {number}, accumulated power-on hours = {hours}\n"
        "    self-test code: background short [1]\n"
        f"    self-test result: {result}\n"
    )


def begin_test(disk: Disk, head: str, now: float) -> Answer:
    """`smartctl -t short`; one that runs is broken off for it, as the SCSI standard has it."""
    if disk.smart.passed is None:
        return Answer(4, f"{head}Short offline self test failed [unsupported scsi opcode]\n")
    disk.smart.test_began_at = now
    return Answer(0, f"{head}Short Background Self Test has begun\nUse smartctl -X to abort test\n")


def _background(disk: Disk) -> str:
    state = "background medium scan is active" if disk.en_bms else "no background scans active"
    return (
        "Background scan results page  [0x15]\n"
        "  Status parameters:\n"
        f"    Accumulated power on minutes: {HOURS * 60} [h:m  {HOURS}:0]\n"
        f"    Status: {state}\n"
        "    Number of background scans performed: 91\n"
        "    Background medium scan progress: 92.00 %\n"
        "    Number of background medium scans performed: 91\n"
    )


PAGES: dict[str, Callable[[Disk], str]] = {
    "0x02": _write,
    "0x03": _read,
    "0x05": _verify,
    "0x06": _non_medium,
    "0x10": lambda disk: "",  # goes by the clock
    "0x15": _background,
}


def mode_field(disk: Disk, path: str, field: str) -> Answer:
    head, value = _head(disk, path), _modes(disk).get(field)
    if value is None:
        return Answer(ILLEGAL_REQUEST, head, NO_BACKGROUND_SCAN)
    saved = disk.saved.get(field, value)
    return Answer(0, head + f"{field:<14}{int(value)}  [cha: {'n' if disk.mode_fixed else 'y'}, def:  1, sav:  {int(saved)}]\n")


def set_mode(disk: Disk, path: str, field: str, value: bool, save: bool) -> Answer:
    """`sdparm --set` and `--clear`. The kernel gets no notice: its assumption about the write cache stays as it was."""
    head, before = _head(disk, path), _modes(disk).get(field)
    if before is None:
        return Answer(ILLEGAL_REQUEST, head, NO_BACKGROUND_SCAN)
    if disk.mode_fixed:
        return Answer(ILLEGAL_REQUEST, head, "change_mode_page: failed setting page\n")
    if field == "WCE":
        disk.believed = before if disk.believed is None else disk.believed
    setattr(disk, field.lower(), value)
    disk.saved = {**disk.saved, field: value if save else disk.saved.get(field, before)}
    return Answer(0, head)


def _modes(disk: Disk) -> dict[str, bool | None]:
    return {"WCE": disk.wce, "EN_BMS": disk.en_bms if disk.rotational else None}


def _head(disk: Disk, path: str) -> str:
    return f"    {path}: {disk.vendor:<8}  {disk.model:<16}  {disk.rev:<4}\n"
