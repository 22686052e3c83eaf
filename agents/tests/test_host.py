import errno
import os
import time

import pytest

from agents.host.host import OUTPUT_BYTES_MAX, LocalHost, _drain


@pytest.fixture
def host():
    return LocalHost()


def test_it_runs_without_a_shell(host):
    ran = host.run(("echo", "$(id); rm -rf /", "*"), 5.0)
    assert (ran.argv[0], ran.exit_code, ran.stdout, ran.why) == ("echo", 0, b"$(id); rm -rf / *\n", "")


def test_it_hands_over_a_clean_environment(host, monkeypatch):
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    monkeypatch.setenv("ZPOOL_SCRIPTS_AS_ROOT", "1")
    lines = set(host.run(("env",), 5.0).stdout.decode().split())
    assert lines == {"PATH=/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/sbin", "LC_ALL=C", "TZ=UTC", "HOME=/"}


def test_it_finds_tools_on_its_own_path_only(host, tmp_path, monkeypatch):
    tool = tmp_path / "mytool"
    tool.write_text("#!/bin/sh\necho found\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert host.run(("mytool",), 5.0).why == "not found"
    assert host.run(("./mytool",), 5.0).why == "not found"
    assert host.run((str(tool),), 5.0).stdout == b"found\n"


def test_it_says_why_a_tool_did_not_start(host, tmp_path):
    (tmp_path / "text").write_text("echo no\n")
    assert host.run((str(tmp_path / "text"),), 5.0).why == "not permitted"
    (tmp_path / "text").chmod(0o755)
    assert host.run((str(tmp_path / "text"),), 5.0).why == "not started"


def test_it_keeps_exit_code_and_both_outputs(host):
    ran = host.run(("sh", "-c", "echo out; echo err >&2; exit 3"), 5.0)
    assert (ran.exit_code, ran.stdout, ran.stderr) == (3, b"out\n", b"err\n")


def test_at_the_deadline_the_whole_group_dies(host, tmp_path):
    mark = tmp_path / "pid"
    ran = host.run(("sh", "-c", f"echo begun; sleep 60 & echo $! > {mark}; wait"), 0.4)
    assert (ran.exit_code, ran.why, ran.stdout) == (None, "timeout", b"begun\n")
    assert 0.4 <= ran.seconds < 2.0
    child = int(mark.read_text())
    assert gone(child)


def gone(pid: int) -> bool:
    """Killed, be it that nobody has collected it yet."""
    for _ in range(100):
        try:
            with open(f"/proc/{pid}/stat") as stat:
                if stat.read().rsplit(")", 1)[1].split()[0] in "ZX":
                    return True
        except OSError:
            return True
        time.sleep(0.02)
    return False


def test_a_child_that_will_not_die_is_left_behind_and_collected_later(host, monkeypatch):
    """State D cannot be made at will; a kill that does nothing looks the same from here."""
    monkeypatch.setattr("agents.host.host.GRACE_SECONDS", 0.1)
    with monkeypatch.context() as undying:
        undying.setattr(os, "killpg", lambda group, number: None)
        ran = host.run(("sleep", "1"), 0.1)
    assert (ran.exit_code, ran.why) == (None, "stuck")
    assert ran.seconds < 0.9
    ((_, child),) = host._left_behind
    child.wait()
    host.run(("true",), 5.0)
    assert host._left_behind == []


def test_a_grandchild_that_keeps_the_pipe_is_not_waited_for(host):
    ran = host.run(("sh", "-c", "sleep 3 & echo done"), 10.0)
    assert (ran.exit_code, ran.stdout) == (0, b"done\n")
    assert ran.seconds < 2.0


def test_output_has_a_bound_and_the_command_still_ends(host):
    ran = host.run(("sh", "-c", f"head -c {OUTPUT_BYTES_MAX + 100_000} /dev/zero; exit 7"), 20.0)
    assert (len(ran.stdout), ran.truncated, ran.exit_code) == (OUTPUT_BYTES_MAX, True, 7)


def test_it_reads_and_writes_existing_files_only(host, tmp_path):
    attribute = tmp_path / "locate"
    with pytest.raises(FileNotFoundError):
        host.write(str(attribute), b"1")
    assert not attribute.exists()
    attribute.write_text("0\n")
    host.write(str(attribute), b"1")
    assert host.read(str(attribute)) == b"1\n"


def test_it_refuses_to_read_without_end(host):
    with pytest.raises(OSError, match="longer than anything"):
        host.read("/dev/zero")


def test_lists_are_sorted_and_hold_dangling_links(host, tmp_path):
    (tmp_path / "b").symlink_to("nowhere")
    (tmp_path / "a").write_text("")
    assert host.list(f"{tmp_path}/*") == (f"{tmp_path}/a", f"{tmp_path}/b")
    assert host.list(f"{tmp_path}/none*") == ()


def test_a_link_leads_to_its_end_or_raises(host, tmp_path):
    (tmp_path / "sda").write_text("")
    (tmp_path / "wwn").symlink_to("sda")
    (tmp_path / "by-id").symlink_to("wwn")
    (tmp_path / "dangling").symlink_to("sdz")
    (tmp_path / "round").symlink_to("round")
    assert host.link(str(tmp_path / "by-id")) == str((tmp_path / "sda").resolve())
    for name in ("dangling", "round"):
        with pytest.raises(OSError, match=name):
            host.link(str(tmp_path / name))


def test_it_reads_regions_of_a_device(host, tmp_path):
    """On most filesystems without the cache, on the others with its pages dropped: the bytes are the same."""
    path = tmp_path / "disk"
    path.write_bytes(bytes(4096) + b"a" * 8192 + b"b" * 4096 + b"tail")
    assert host.read_device(str(path), ((4096, 4096), (12288, 4096))) == b"a" * 4096 + b"b" * 4096
    assert host.read_device(str(path), ((16384, 4096),)) == b"tail"
    with pytest.raises(OSError, match="4096 byte blocks"):
        host.read_device(str(path), ((512, 4096),))
    with pytest.raises(FileNotFoundError):
        host.read_device(str(tmp_path / "none"), ((0, 4096),))


def test_it_reads_a_device_where_there_is_no_way_past_the_cache(host, tmp_path, monkeypatch):
    path, real = tmp_path / "disk", os.open
    path.write_bytes(b"a" * 8192)

    def without_direct(name, flags, *more):
        if flags & os.O_DIRECT:
            raise OSError(errno.EINVAL, "Invalid argument", name)
        return real(name, flags, *more)

    monkeypatch.setattr(os, "open", without_direct)
    assert host.read_device(str(path), ((4096, 4096),)) == b"a" * 4096


def test_a_command_whose_child_is_stuck_is_not_started_again(host, monkeypatch):
    monkeypatch.setattr("agents.host.host.GRACE_SECONDS", 0.1)
    with monkeypatch.context() as undying:
        undying.setattr(os, "killpg", lambda group, number: None)
        host.run(("sleep", "2"), 0.1)
    again = host.run(("sleep", "2"), 5.0)
    assert (again.why, again.seconds) == ("stuck", 0.0)
    assert host.left_behind() == (("sleep", "2"),)
    ((_, child),) = host._left_behind
    child.wait()
    assert host.left_behind() == ()


class Late:
    """A child that writes and ends in the very moment in which somebody asks whether it has ended, as on a machine that is short of time."""

    def __init__(self) -> None:
        self.stdout, self._out = (os.fdopen(fd, mode) for fd, mode in zip(os.pipe(), ("rb", "wb")))
        self.stderr, self._err = (os.fdopen(fd, mode) for fd, mode in zip(os.pipe(), ("rb", "wb")))

    def poll(self) -> int:
        if not self._out.closed:
            self._out.write(b"pool: tank\n")
            self._out.close()
            self._err.close()
        return 0

    def wait(self, timeout: float) -> int:
        return 0


def test_nothing_is_lost_of_a_child_that_ends_while_it_is_asked_whether_it_has():
    """Seen on a real node: `smartctl` exited 4 with its report unread, and the capture was empty."""
    assert _drain(Late(), time.monotonic() + 5)[0] == b"pool: tank\n"


def test_a_child_that_ended_after_the_deadline_is_late_however_it_ended():
    stdout, _, _, late = _drain(Asleep(), time.monotonic() - 1)
    assert (stdout, late) == (b"", True)


class Asleep(Late):
    """Still at it whenever it is asked."""

    def poll(self) -> None:
        return None
