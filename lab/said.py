"""What a started process prints, read as it comes: so it is never held up, and a caller can wait for a line."""

import re
import subprocess
import threading
from queue import Empty, Queue

from launcher.say import Stop


class ProcessOutput:
    def __init__(self, process: subprocess.Popen, patience_seconds: float) -> None:
        """A process whose output is text and piped. After so long without a word it is not waited for any more."""
        self._process, self._patience = process, patience_seconds
        self._so_far: list[str] = []
        self._lines: Queue[str] = Queue()
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        for line in self._process.stdout:
            self._so_far.append(line)
            self._lines.put(line)
        self._lines.put("")  # it has ended

    def find(self, pattern: str) -> re.Match:
        """The next line that has this in it. Raises Stop, with all that was said, when none comes."""
        while True:
            try:
                line = self._lines.get(timeout=self._patience)
            except Empty:
                line = ""
            if not line:
                raise Stop(f"`{' '.join(self._process.args)}` never said {pattern!r}. It said:\n{''.join(self._so_far)}")
            if found := re.search(pattern, line.rstrip()):
                return found
