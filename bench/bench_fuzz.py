"""Every parser of the agent on 100,000 hurt texts each: what was refused, how long it took, and that nothing was raised.

SLOTLIGHT_FUZZ_TEXTS sets another number, SLOTLIGHT_FUZZ_SEED another walk through the same texts.
"""

from __future__ import annotations

import os
import sys
import time

from agents.collectors import COLLECTORS
from agents.tests.fuzz import abuse, genuine

TEXTS = int(os.environ.get("SLOTLIGHT_FUZZ_TEXTS", "100000"))
SEED = int(os.environ.get("SLOTLIGHT_FUZZ_SEED", "1"))


def main() -> int:
    texts, failed = genuine(), 0
    print(
        f"{'parser':20} {'from':>5} {'texts':>8} {'refused':>8} {'numbers checked':>16} {'seconds':>8} {'slowest ms':>11}  raised or wrong"
    )
    for name, module in COLLECTORS.items():
        begun = time.perf_counter()
        try:
            tally = abuse(module, texts[name], TEXTS, SEED)
        except Exception as error:  # noqa: BLE001  what a parser raises is what is measured here
            failed += 1
            print(f"{name:20} {len(texts[name]):5}  {type(error).__name__}: {error}")
            continue
        seconds, slowest = time.perf_counter() - begun, tally.slowest_seconds * 1000
        print(
            f"{name:20} {len(texts[name]):5} {tally.texts:8} {tally.refused:8} {tally.checked:16} {seconds:8.1f} {slowest:11.1f}  0",
            flush=True,
        )
    print(f"{len(COLLECTORS)} parsers, {len(COLLECTORS) * TEXTS} texts, {failed} parsers that raised or read a wrong number")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
