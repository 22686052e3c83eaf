"""A command is known behind every prompt, whatever runs it, in whatever order its options stand; and prose is none."""

from __future__ import annotations

import pytest

from workflows.triage.commands import asked

PROMPTS = {  # as it stands before the command -> the host that it names
    "root@oss01:~# ": "oss01",
    "[root@oss01 ~]# ": "oss01",
    "root@oss01:/mnt/tank# ": "oss01",
    "admin@oss01[~]$ ": "oss01",
    "ann@oss01 ~ % ": "oss01",
    "ann@oss01 ~> ": "oss01",
    "(venv) ann@oss01:~$ ": "oss01",
    "12:01:07 root@oss01:~# ": "oss01",
    "oss01# ": "oss01",
    "oss01:~ # ": "oss01",
    "bash-5.2# ": "",
    "sh-4.4$ ": "",
    "# ": "",
    "$ ": "",
    "% ": "",
    "> ": "",
    "\u276f ": "",
    "\u03bb ": "",
    "~ \u276f ": "",
    "~$ ": "",
    "\u279c  ~ ": "",
    "\u2514\u2500# ": "",
    "PS C:\\Users\\ann> ": "",
    "": "",
}


@pytest.mark.parametrize("prompt", PROMPTS)
@pytest.mark.parametrize("command", ["zpool status -v", "sudo zpool status tank", "/usr/sbin/zpool status -P -p"])
def test_a_command_is_known_behind_every_prompt(prompt, command):
    found = asked(prompt + command)
    assert found is not None
    assert (found.source, found.node) == ("zpool_status", PROMPTS[prompt])


ELSEWHERE = {
    "ssh oss02 zpool status": "oss02",
    "ssh -p 2222 root@oss02 'sudo zpool status -v'": "oss02",
    "pct exec 101 -- zpool status": "",
    "docker exec -it app zpool status": "",
    "kubectl exec -n storage node-0 -- zpool status": "",
    "chroot /mnt zpool status": "",
    "bash -c 'zpool status'": "",
    "sudo -u root env LC_ALL=C zpool status": "",
    "timeout -k 5 30 zpool status": "",
    "watch -n 5 zpool status": "",
    "zpool status 2>&1 | tee out.txt": "",
    "zpool status -v > out.txt": "",
    "cd /tmp && zpool status": "",
    "zpool status -v  # look": "",
}


@pytest.mark.parametrize("command", ELSEWHERE)
def test_what_runs_a_command_is_undone(command):
    found = asked(f"$ {command}")
    assert found is not None
    assert (found.source, found.node) == ("zpool_status", ELSEWHERE[command])


HEADINGS = {
    "Every 2.0s: zpool status          oss01: Sat Nov 21 12:01:07 2026": ("zpool_status", "oss01"),
    "<<<zpool_status>>>": ("zpool_status", ""),
    "===== zpool status -v =====": ("zpool_status", ""),
    "==> outputs/zpool_status_-v.txt <==": ("zpool_status", ""),
    "**zpool status**": ("zpool_status", ""),
    "Output of `zpool status -v`:": ("zpool_status", ""),
    "zpool import:": ("zpool_import", ""),
    "oss01 | CHANGED | rc=0 >>": ("", "oss01"),
}


@pytest.mark.parametrize("line", HEADINGS)
def test_headings_of_tools_name_the_command_or_the_host(line):
    found = asked(line)
    assert found is not None
    assert (found.source, found.node) == HEADINGS[line]


@pytest.mark.parametrize(
    "line",
    [
        "zpool status shows that the pool is degraded",
        "zpool status hangs",
        "I ran zpool status and it says DEGRADED",
        "Run zpool status -v to see which files are hurt.",
        "12% done",
        "8.53% done",
        "# Problem description",
        "> I would look at the cable first",
        "zpool import did not help",
        "hostid is not set",
    ],
)
def test_prose_is_no_command(line):
    found = asked(line)
    assert found is None or not found.source
