"""The node as the agent reaches it: commands, files and devices, and the processes that run commands."""
