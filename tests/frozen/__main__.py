"""Compares what the code does with what was kept: `python -m tests.frozen [--texts] [--keep] [GROUP...]`.

Prints one line for each difference and exits 1 when there is any. Texts that people read may change; `--texts` lists those changes too,
and they never fail. `--keep` writes what is done now into tests/frozen/kept, for a change of behaviour that is meant.
"""

from __future__ import annotations

import argparse
import sys

from tests.frozen.compute import GROUPS, compute
from tests.frozen.record import differences, differences_of_texts, keep, kept, kept_texts


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.frozen", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("groups", nargs="*", metavar="GROUP", help=f"some of {', '.join(GROUPS)}; all of them when none is named")
    parser.add_argument("--texts", action="store_true", help="list texts that changed")
    parser.add_argument("--keep", action="store_true", help="write what is done now")
    options = parser.parse_args(words)
    if strange := set(options.groups) - set(GROUPS):
        parser.error(f"there is no group {', '.join(sorted(strange))}")
    groups = options.groups or list(GROUPS)
    record, texts = compute(groups)
    if options.keep:
        for path in keep(record, texts):
            print(path)
        return 0
    found = [line for group in groups for line in differences(group, kept(group), record.get(group, {}))]
    warned = [line for group in groups for line in differences_of_texts(group, kept_texts(group), texts.get(group, {}))]
    print("\n".join([*found, *(warned if options.texts else ())] or ["Everything is as it was kept."]))
    if warned and not options.texts:
        print(f"{len(warned)} texts differ; --texts lists them.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
