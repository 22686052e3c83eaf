"""From which age, fill or count on a pool is worth a word, each with its source. The only place for these numbers."""

from workflows.analysis import last_scrub

# Scrubs. Distributions begin one each month (Debian's zfsutils: second Sunday; TrueNAS: every 35 days), so 35 days are one missed.
SCRUB_DAYS = last_scrub.WARN_DAYS
# A paused scrub is gone on with within its month, else it stands for no scrub at all.
SCRUB_PAUSED_DAYS = last_scrub.WARN_DAYS

# Fill, in percent of the pool's size.
FILL_INFO = 80  # the OpenZFS "Workload Tuning" guide asks to keep 20 % free: below it, free space is searched in ever smaller pieces
FILL_WATCH = 90  # Oracle's "ZFS Storage Pools Recommended Practices": up to 90 % where data is only added, 80 % where it is rewritten
# metaslab_df_free_pct is 4: a metaslab with less than 4 % free is searched for the best fit, not the first. spa_slop_shift is 5: the
# last 1/32 (3.1 %, at most 128 GiB since 2.1) is held back, and writes end with "No space left on device" (module/zfs/spa_misc.c).
FILL_ACT = 95

# Fill of a special or dedup class, in percent of its size: zfs_special_class_metadata_reserve_pct is 25, so from 75 % on small blocks go to the data
# (spa_preferred_class in module/zfs/spa_misc.c); near its end metadata goes there too, and disks take time to buy.
CLASS_INFO = 75
CLASS_WATCH = 90

# zdb's and zpool's percentage of an expansion: copied out of to-copy. Above this it ran past what there was to copy.
EXPANSION_PERCENT_MAX = 100.0
