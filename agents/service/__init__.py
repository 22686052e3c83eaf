"""The agent as a program on the node: its main loop, installation, diagnosis, status, and the hook for ZED."""
