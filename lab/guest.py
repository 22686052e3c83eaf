"""What a person with a shell on the node can do: run a line, hand over a file."""

import os
import re
import subprocess
import time
from pathlib import Path
from typing import NamedTuple

from launcher.say import Stop

LINE_SECONDS = 300
# On a node short of CPU udev names new partitions later than `zpool create` waits for them, and it says that a device is unavailable. Later still
# come the events of its labelling, and ZED takes a member of the new pool for removed; it is brought back until the pool stays well.
CREATE = """\
for i in 1 2 3; do udevadm settle -t 60; zpool create {words} && break; sleep 5; done
for i in 1 2 3 4 5 6 7 8; do
  udevadm settle -t 60; sleep 5
  zpool status -x | grep -q 'all pools are healthy' && exit 0
  zpool status | awk '/REMOVED/ {{print $1}}' | xargs -r -n 1 zpool online $(zpool list -H -o name)
  zpool clear $(zpool list -H -o name)
done
zpool status; exit 1"""

ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|[\x00-\x08\x0b-\x1f]")  # what a terminal acts upon and nobody copies


class GuestFailed(Exception):
    """A line ended with another exit code than 0. The message has what it said."""


class Guest(NamedTuple):
    port: int
    key: Path
    folder: Path

    def argv(self, *more: str) -> list[str]:
        control = ("-o", "ControlMaster=auto", "-o", f"ControlPath={self.folder}/ssh", "-o", "ControlPersist=60")
        known = ("-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o", "ConnectTimeout=60", "-o", "LogLevel=ERROR")
        return ["ssh", "-i", str(self.key), "-p", str(self.port), *control, *known, "root@127.0.0.1", *more]

    def sh(self, line: str, seconds: float = LINE_SECONDS, check: bool = True, stdin: bytes = b"") -> str:
        """What one shell line prints, both streams as they come. Raises GuestFailed, TimeoutExpired."""
        given = {"input": stdin} if stdin else {"stdin": subprocess.DEVNULL}
        argv = self.argv(f"exec 2>&1; {line}")
        ran = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=seconds, check=False, **given)
        output = ran.stdout.decode(errors="replace")
        if check and ran.returncode:
            raise GuestFailed(f"`{line}` ended with {ran.returncode}:\n{output}")
        return output

    def fed(self, line: str, stdin: bytes, seconds: float = LINE_SECONDS) -> bytes:
        """What one shell line writes to its output when it is given this on its input. Raises GuestFailed, TimeoutExpired."""
        ran = subprocess.run(self.argv(line), input=stdin, capture_output=True, timeout=seconds, check=False)
        if ran.returncode:
            raise GuestFailed(f"`{line}` ended with {ran.returncode}:\n{ran.stderr.decode(errors='replace')}")
        return ran.stdout

    def paste(self, text: str, seconds: float = LINE_SECONDS) -> str:
        """What root's own shell on a terminal of the node shows when this is pasted into it, as somebody would copy it from there. Raises TimeoutExpired."""
        typed = f"{text}exit\n".encode()
        ran = subprocess.run(self.argv("-tt"), input=typed, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=seconds, check=False)
        return ESCAPES.sub("", ran.stdout.decode(errors="replace").replace("\r\n", "\n"))

    def create_pool(self, words: str) -> str:
        return self.sh(CREATE.format(words=words))

    def import_pool(self, words: str) -> None:
        """As a person does it who is told "no such pool available" while the agent lists what can be imported: once more."""
        self.sh(
            f"for i in 1 2 3 4 5; do said=$(zpool import {words} 2>&1) && exit; case $said in *'no such pool'*) sleep 3;; *) break;; esac; done; echo \"$said\"; exit 1"
        )

    def hang_up(self) -> None:
        """Close the connection that later lines would share."""
        subprocess.run(self.argv("-O", "exit"), stdin=subprocess.DEVNULL, capture_output=True, check=False)

    def put(self, path: str, text: str | bytes) -> None:
        data = text.encode() if isinstance(text, str) else text
        self.sh(f"cat > {path}", stdin=data)

    def shell(self, *line: str) -> None:
        """Become the shell, or the one line run there: its streams and its exit code are the caller's, and it takes as long as it takes. Does not return."""
        argv = self.argv(*line)
        os.execvp(argv[0], argv)

    def wait(self, alive, seconds: float) -> None:
        """Until a shell answers. Raises Stop."""
        until = time.monotonic() + seconds
        while time.monotonic() < until and alive():
            try:
                self.sh("true", seconds=20)
                return
            except (GuestFailed, subprocess.TimeoutExpired):
                time.sleep(1)
        raise Stop(
            f"The node did not come up within {seconds:.0f} s. Its console is {self.folder}/console.log, QEMU's words are {self.folder}/qemu.log."
        )
