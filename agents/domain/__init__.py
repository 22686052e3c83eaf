"""Facts of the field that need no machine: WWIDs, tunables of the kernel module, moments in time."""
