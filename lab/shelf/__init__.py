"""The disk shelf: a SES-3 enclosure behind a small iSCSI target, which QEMU hangs on the node's own SAS adapter.

The node's stock `ses` driver binds to it as to a real JBOD. Which lamp is lit is asked here, on the shelf's own side, so a test
never has to believe what the node says of it.
"""
