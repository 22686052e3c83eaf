"""Make the demo fleet, look at one of its nodes, or let the real agent run on it.

python -m twin --make DIR
python -m twin --dir DIR --node NAME -- zpool status
python -m twin --dir DIR --node NAME --portal URL --token-file FILE
"""

import argparse
import sys
from collections.abc import Sequence

from agents.service import log_lines
from twin import demo
from twin.host import TwinHost

LOOK_TIMEOUT_SECONDS = 60.0


def main(argv: Sequence[str]) -> int:
    words, command = list(argv), []
    if "--" in words:
        words, command = words[: words.index("--")], words[words.index("--") + 1 :]
    args = _parser().parse_args(words)
    if args.make:
        for path in demo.make(args.make):
            print(path)
        return 0
    if not args.dir or not args.node:
        print("Nothing to do: give --make DIR, or --dir DIR with --node NAME.", file=sys.stderr)
        return 2
    path = demo.state_path(args.dir, args.node)
    if not path.exists():
        print(f"{path} does not exist. Write the demo nodes first: python -m twin --make {args.dir}", file=sys.stderr)
        return 2
    if command:
        return look(TwinHost(path), command)
    if not args.portal or not args.token_file:
        print("Give --portal URL and --token-file FILE to run the agent, or -- and a command to look.", file=sys.stderr)
        return 2
    return run(args)


def run(args: argparse.Namespace) -> int:
    from twin import play  # looking needs no agent

    log_lines.begin()
    try:
        play.play(args.dir, args.node, args.portal, args.token_file)
    except play.ENDS as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def look(host: TwinHost, command: Sequence[str]) -> int:
    ran = host.run(command, LOOK_TIMEOUT_SECONDS)
    sys.stdout.buffer.write(ran.stdout)
    sys.stderr.buffer.write(ran.stderr)
    if ran.exit_code is None:
        print(f"{' '.join(command)}: {ran.why}", file=sys.stderr)
        return 1
    return ran.exit_code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m twin", description="Play simulated storage nodes.")
    parser.add_argument("--make", metavar="DIR", help="write the demo nodes' states and end")
    parser.add_argument("--dir", help="where the states are")
    parser.add_argument("--node", help="which node to play")
    parser.add_argument("--portal", help="the portal's address")
    parser.add_argument("--token-file", help="a file with a one-time enrolment token")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
