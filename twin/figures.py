"""Numbers, durations and dates as the ZFS tools print them."""

import time

UNITS = ("", "K", "M", "G", "T", "P", "E")


def nicenum(number: int, unit_of_one: str = "") -> str:
    """A number in at most five characters, as zfs_nicenum prints it: "1.21K", "374M", "10G"."""
    index, n = 0, number
    while n >= 1024 and index < len(UNITS) - 1:
        n //= 1024
        index += 1
    unit = 1 << (10 * index)
    if index == 0:
        return f"{number}{unit_of_one}"
    if number % unit == 0:
        return f"{number // unit}{UNITS[index]}"
    texts = (f"{number / unit:.{decimals}f}{UNITS[index]}" for decimals in (2, 1, 0))
    return next((text for text in texts if len(text) <= 5), f"{number / unit:.0f}{UNITS[index]}")


def nicebytes(number: int) -> str:
    return nicenum(number, "B")


def dhms(seconds: float) -> str:
    days, rest = divmod(int(seconds), 86400)
    clock = f"{rest // 3600:02d}:{rest % 3600 // 60:02d}:{rest % 60:02d}"
    return f"{days} days {clock}" if days else clock


def ctime(at: float) -> str:
    """The twin lives in UTC, as storage nodes should."""
    return time.asctime(time.gmtime(at))


def si_size(size_bytes: int) -> str:
    """Sizes as `lsscsi -s` prints them: three digits, cut and not rounded: 9796820402176 is "9.79TB"."""
    size, index = size_bytes, 0
    units = ("B", "KB", "MB", "GB", "TB", "PB")
    power = 1
    while size // power >= 1000:
        power *= 1000
        index += 1
    whole, rest = divmod(size, power)
    decimals = 0 if index == 0 else max(0, 3 - len(str(whole)))
    fraction = f".{rest * 10**decimals // power:0{decimals}d}" if decimals else ""
    return f"{whole}{fraction}{units[index]}"
