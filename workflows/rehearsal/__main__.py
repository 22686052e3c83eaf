"""Write a scenario's nodes for the twin to play: python -m workflows.rehearsal --make DIR --scenario NAME"""

import argparse
import sys
import time
from collections.abc import Sequence

from workflows.rehearsal import scenarios, tryout


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m workflows.rehearsal", description="Write the nodes of a scenario.")
    parser.add_argument("--make", metavar="DIR", required=True, help="where their states are written")
    parser.add_argument("--scenario", choices=sorted(scenarios.names()), required=True, help="the node that needs the runbook of this name")
    args = parser.parse_args(argv)
    print(tryout.make(args.make, args.scenario, time.time()))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
