"""`zdb -e -p DIR GUID -d`: whether a pool that is not imported opens, with the devices that `systemd-run` masks away from it."""

import copy
from collections.abc import Sequence

from twin import importer
from twin.answer import Answer
from twin.importing import is_damaged
from twin.vdevs import pool_state
from twin.view import View

MASK = "InaccessiblePaths="
# As 2.1.11 counts them once it has opened a pool: the features in use, of those that zdb counts itself.
USED = ("userobj_accounting", "project_quota")
COUNTED = (
    *("large_blocks", "large_dnode", "sha512", "skein", "edonr", "userobj_accounting", "encryption", "project_quota"),
    *("redaction_bookmarks", "redacted_datasets", "bookmark_written", "livelist", "zstd_compress", "device_removal", "indirect_refcount"),
)


def asks(args: Sequence[str]) -> bool:
    return len(args) == 5 and tuple(args[:2]) == ("-e", "-p") and args[4] == "-d"


def answer(view: View, args: Sequence[str], masked: frozenset[str] = frozenset()) -> Answer:
    """A copy of the node is opened, as an import opens it. A masked disk is no disk, by whatever name it is looked for."""
    node, word = copy.deepcopy(view.node), args[3]
    node.disks = [disk for disk in node.disks if not any(f"/dev/{path.name}" in masked for path in disk.paths)]
    pool = next((pool for pool in node.pools if str(pool.guid) == word and not pool.imported), None)
    if pool is None:
        return Answer(1, "", f"zdb: can't open '{word}': No such file or directory\n")
    importer.open_members(node, pool)
    if is_damaged(node, pool):
        return Answer(1, "", f"zdb: can't open '{word}': Input/output error\n")
    if pool_state(pool) == "UNAVAIL":
        return Answer(1, "", f"zdb: can't open '{word}': No such file or directory\n")
    datasets = f"Dataset mos [META], ID 0, cr_txg 4, 671K, 59 objects\nDataset {word} [ZPL], ID 54, cr_txg 1, 70.2M, 8 objects\n"
    counted = (f"Verified {name} feature refcount of {int(name in USED)} is correct\n" for name in COUNTED)
    return Answer(0, datasets + "".join(counted))


def run_masked(view: View, args: Sequence[str]) -> Answer | None:
    """None for what systemd-run is not asked for here."""
    if "zdb" not in args:
        return None
    place = list(args).index("zdb")
    hidden = next((word[len(MASK) :] for word in args[:place] if word.startswith(MASK)), "")
    asked = args[place + 1 :]
    return answer(view, asked, frozenset(hidden.split())) if asks(asked) else None
