"""A real storage node in a box: Debian, OpenZFS and SAS disks in QEMU, and the end-to-end tests that use it.

Nothing of the product is imported here but the launcher's way of speaking: the lab looks at the product from outside.
"""
