"""A function in a process of its own: its value, its errors, and each limit."""

import multiprocessing
import os
import signal

import pytest

import confined


def test_it_gives_what_the_function_returns():
    assert confined.run(sorted, [3, 1, 2]) == [1, 2, 3]


def test_it_runs_in_another_process():
    assert confined.run(os.getpid) != os.getpid()


def test_an_error_of_the_function_is_a_crash_and_never_an_answer():
    with pytest.raises(confined.Stopped) as stopped:
        confined.run(int, "x")
    assert stopped.value.why == "crash"


def test_too_much_computing_is_stopped(monkeypatch):
    monkeypatch.setattr(confined, "CPU_SECONDS", 1)
    with pytest.raises(confined.Stopped) as stopped:
        confined.run(_spin)
    assert stopped.value.why == "cpu"


def test_too_much_memory_is_stopped():
    with pytest.raises(confined.Stopped) as stopped:
        confined.run(_fill)
    assert stopped.value.why == "memory"


def test_memory_that_fills_bit_by_bit_is_told_of_as_memory():
    with pytest.raises(confined.Stopped) as stopped:
        confined.run(_fill_slowly)
    assert stopped.value.why == "memory"


def test_too_much_time_is_stopped(monkeypatch):
    monkeypatch.setattr(confined, "WALL_SECONDS", 0.2)
    with pytest.raises(confined.Stopped) as stopped:
        confined.run(signal.pause)
    assert stopped.value.why == "time"


def test_a_crash_is_no_answer():
    with pytest.raises(confined.Stopped) as stopped:
        confined.run(os._exit, 7)
    assert stopped.value.why == "crash"


def _in_a_daemon(function, *args):
    """As in a Celery worker, whose processes may begin none of multiprocessing's. What came of it, or why it was stopped."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_send, args=(sender, function, args), daemon=True)
    process.start()
    sender.close()
    answer = receiver.recv()
    process.join()
    return answer


def _send(sender, function, args):
    try:
        sender.send(confined.run(function, *args))
    except confined.Stopped as stopped:
        sender.send(f"stopped: {stopped.why}")


def test_it_gives_what_the_function_returns_in_a_daemon_too():
    assert _in_a_daemon(sorted, [3, 1, 2]) == [1, 2, 3]
    assert _in_a_daemon(os.getpid) != os.getpid()


def test_what_the_function_prints_there_is_no_part_of_its_answer():
    assert _in_a_daemon(print, "words") is None


@pytest.mark.parametrize(("function", "args", "why"), [(int, ("x",), "crash"), (os._exit, (7,), "crash"), (bytes, (1024**3,), "memory")])
def test_a_limit_stops_it_there_too(function, args, why):
    assert _in_a_daemon(function, *args) == f"stopped: {why}"


def test_too_much_time_stops_it_there_too(monkeypatch):
    monkeypatch.setattr(confined, "WALL_SECONDS", 1.0)
    assert _in_a_daemon(signal.pause) == "stopped: time"


def _spin():
    while True:
        pass


def _fill():
    return len(bytearray(2 * confined.MEMORY_BYTES))


def _fill_slowly():
    held = []
    while True:
        held.append([str(len(held))] * 10)
