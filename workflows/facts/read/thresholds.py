"""From when on a number of a disk says that something is wrong. Every threshold stands here, with where it comes from.

A disk's own verdict, a failed self-test and an NVMe critical warning need no threshold. Numbers that mean something else with each
vendor have none, and count only where the disk itself says so.
"""

# Sectors that the disk could not read and has not replaced yet (ATA 197, SCSI pending defects), or gave up when it looked (198).
# One is a place whose data this disk has lost. Backblaze found 5, 187, 188, 197 and 198 above zero on 77 % of the drives that failed, and
# on 4 % of those that worked (2016).
PENDING_WATCH = 1
PENDING_ACT = 100  # our own judgement: so many do not come of one interrupted write

# Sectors that were replaced by spare ones. The data is safe; a growing number is the sign. Backblaze as above.
REALLOCATED_WATCH = 1
REALLOCATED_SSD_WATCH = 10  # an SSD takes blocks out of use as it wears, and has many spare ones
REALLOCATED_ACT = 1000  # our own judgement: about half of the spare sectors of a usual disk of these years

# SCSI defects since the disk left the factory. A few come with use; vendors begin to exchange disks at some tens to hundreds.
GROWN_WATCH = 10
GROWN_ACT = 1000

# Reads and writes that the disk failed for good (SCSI error counters, NVMe media errors), and what ATA reported as such (187). SPC: an
# error the disk could not correct reached the host.
UNCORRECTED_WATCH = 1
UNCORRECTED_ACT = 50  # our own judgement

# Hours of use since a read failed on a SATA disk, by its error log. Many disks have no counter of it, and none of the place either once it was written anew, as ZFS
# does with what it mends. An older one says little of today: our own judgement, a month.
LOGGED_HOURS = 720

# Data that was damaged inside the disk, between its cache and its port (ATA 184).
END_TO_END_WATCH = 1

# Transfers that came damaged over the SATA cable (ATA 199). The counter is never set back, and a disk that was once in a bad slot keeps its
# number; a few come with hot-plugging. Below this number only a member with errors of its own is worth a look at the cable.
LINK_CRC_WATCH = 100
LINK_CRC_WITH_ERRORS = 1

# NVMe and SCSI: percentage of the rated life used (NVMe base specification 1.4, figure 194; SBC-4). 100 is the end of the warranty and not
# of the drive.
USED_WATCH = 90
USED_UNSET = 255  # the highest that the field can hold; some drives of 2012 never write another
# SATA SSD: what is left, as its attribute says it.
LIFE_LEFT_WATCH = 10
# NVMe: spare blocks above the threshold that the drive itself names, in percent points. At the threshold the drive raises its warning.
SPARE_MARGIN_WATCH = 5

# Degrees below the temperature at which a disk itself calls it too much (SCSI trip temperature, ATA specified maximum, NVMe warning).
NEAR_TRIP_CELSIUS = 3
# Where the disk names no limit: no disk or SSD is specified for more in operation.
HOTTEST_CELSIUS = 70
# A sensor that says more than this is broken, or the number is none of degrees.
IMPOSSIBLE_CELSIUS = 120
