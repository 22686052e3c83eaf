"""What an import as at boot shares with its kind: never forced, never rewound, nothing mounted, and the cache file as the run chose it.

`zpool import` mounts and shares every dataset unless -N is given (zpool_enable_datasets, cmd/zpool/zpool_main.c), also such as need a key
that is not loaded yet; so -N is always given, and people start what is to be started. Without `-o cachefile` the pool goes into the node's
own cache file and comes in again at the next boot (spa_import, module/zfs/spa.c); with cachefile=none the boot leaves it alone.
"""

from __future__ import annotations

from collections.abc import Mapping

from agents.operations import _importing, _member, _writing

PARAMS = (*_writing.PARAMS, "cachefile")
KEPT, NONE = "default", "none"
CACHE_FILES = (KEPT, NONE)


def check(params: Mapping[str, str]) -> str:
    bad = _member.check(params, PARAMS)
    return bad or ("" if params["cachefile"] in CACHE_FILES else f"`cachefile` is {params['cachefile']!r}; it must be default or none.")


def argv(params: Mapping[str, str], more: tuple[str, ...] = ()) -> tuple[str, ...]:
    remembered = ("-o", "cachefile=none") if params["cachefile"] == NONE else ()
    return ("zpool", "import", "-N", *more, *remembered, *_importing.WHERE, params["pool_guid"])
