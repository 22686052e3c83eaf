"""One question put to each disk: the answers come in the order of the disks, and a disk that hangs holds up no other."""

from threading import Event

from agents.collectors import _disks


def test_the_answers_stand_in_the_order_of_the_disks():
    assert _disks.each(str.upper, ("sdb", "sda", "sdaa")) == ("SDB", "SDA", "SDAA")


def test_a_disk_that_hangs_holds_up_no_other():
    others = Event()

    def question(disk: str) -> bool:
        """The first disk answers only when the last has been asked."""
        if disk == "sdc":
            others.set()
        return disk != "sda" or others.wait(30)

    assert _disks.each(question, ("sda", "sdb", "sdc")) == (True, True, True)
