"""What can be done with which kind of disk: each runbook walked to its end on a twin all of whose disks are of one kind. docs/disks.md is made of it."""
