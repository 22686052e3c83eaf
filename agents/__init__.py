"""What runs on a storage node. Python 3.9 or newer, standard library only."""

VERSION = "0.1.0"
