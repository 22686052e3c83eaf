"""What a host without an agent was asked once: the script that asks, the archive that it writes, and what other tools' archives hold."""
