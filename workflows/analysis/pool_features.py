"""Which OpenZFS release brought each pool feature, by the name that `zpool` prints.

Checked on 2026-11-25 against every release tag from zfs-0.6.1 to zfs-2.4.4 of the OpenZFS repository: the first tag whose zfeature_common.c
registers the name (`zfeature_register()`; module/zfs/ up to 0.7, module/zcommon/ since) is the release below, and no tag registers a name
that is missing here. Release candidates and the development tags (x.y.99) were left out. A release series means its first release.
"""

import re

SINCE: dict[str, tuple[str, ...]] = {
    "0.6.1": ("com.delphix:async_destroy", "com.delphix:empty_bpobj", "org.illumos:lz4_compress"),
    "0.6.4": (
        *("com.delphix:spacemap_histogram", "com.delphix:enabled_txg", "com.delphix:hole_birth", "com.delphix:extensible_dataset"),
        *("com.delphix:embedded_data", "com.delphix:bookmarks"),
    ),
    "0.6.5": ("com.joyent:filesystem_limits", "org.open-zfs:large_blocks"),
    "0.7": (
        *("com.joyent:multi_vdev_crash_dump", "org.zfsonlinux:large_dnode", "org.illumos:sha512", "org.illumos:skein", "org.illumos:edonr"),
        "org.zfsonlinux:userobj_accounting",
    ),
    "0.8": (
        *("com.datto:encryption", "org.zfsonlinux:project_quota", "com.delphix:device_removal", "com.delphix:obsolete_counts", "com.delphix:zpool_checkpoint"),
        *("com.delphix:spacemap_v2", "org.zfsonlinux:allocation_classes", "com.datto:resilver_defer", "com.datto:bookmark_v2"),
    ),
    "2.0": (
        *("com.delphix:redaction_bookmarks", "com.delphix:redacted_datasets", "com.delphix:bookmark_written", "com.delphix:log_spacemap"),
        *("com.delphix:livelist", "org.openzfs:device_rebuild", "org.freebsd:zstd_compress"),
    ),
    "2.1": ("org.openzfs:draid",),
    "2.2": ("org.openzfs:zilsaxattr", "com.delphix:head_errlog", "org.openzfs:blake3", "com.fudosecurity:block_cloning", "com.klarasystems:vdev_zaps_v2"),
    "2.3": ("com.delphix:redaction_list_spill", "org.openzfs:raidz_expansion", "com.klarasystems:fast_dedup", "org.zfsonlinux:longname", "com.klarasystems:large_microzap"),
    "2.4": ("com.klarasystems:dynamic_gang_header", "com.truenas:block_cloning_endian", "com.truenas:physical_rewrite"),
}  # fmt: skip
RELEASE_OF = {name: release for release, names in SINCE.items() for name in names}
_NAMED = re.compile(r"\b[a-z][a-z0-9-]{0,40}(?:\.[a-z0-9-]{1,40}){1,4}:[a-z][a-z0-9_]{1,60}\b")


def named(text: str) -> tuple[str, ...]:
    """The features that a message names, each once."""
    return tuple(dict.fromkeys(_NAMED.findall(text)))


def needed(features: tuple[str, ...]) -> str:
    """The first release that has all of these; "" where one of them is not known here."""
    releases = [RELEASE_OF.get(feature) for feature in features]
    known = [release for release in releases if release is not None]
    return max(known, key=lambda release: tuple(map(int, release.split(".")))) if known and len(known) == len(releases) else ""
