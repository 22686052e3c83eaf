"""Starts Slotlight on one machine: servers from wheels, the portal's processes, the demo fleet. Standard library only."""
