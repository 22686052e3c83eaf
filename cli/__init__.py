"""`slotlight`: the portal on the command line. Python 3.11 and its standard library, nothing else; shipped as one file."""
