"""./run: reads the command, makes sure its packages are there, hands over."""

import sys

from launcher import bootstrap
from launcher.commands import COMMANDS, HELP
from launcher.say import Stop


def main(argv: list[str]) -> int:
    name, rest = ("up", argv) if not argv or (argv[0].startswith("-") and argv[0] not in {"-h", "--help"}) else (argv[0], argv[1:])
    if name in {"help", "-h", "--help"}:
        print(HELP)
        return 0
    if name not in COMMANDS:
        raise Stop(f"./run has no command {name!r}. `./run help` lists what it has.")
    command = COMMANDS[name]
    if command.lock:
        bootstrap.ensure(command.lock)
    return command.call(rest)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except Stop as stop:
        print(stop, file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
