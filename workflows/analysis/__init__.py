"""What follows from facts: redundancy, the next loss, how long a scan takes, why a disk is slow, what a refusal of ZFS means."""
