"""Makes what is brought to a storage node: the agent in one file, and a Debian package around it. Not part of either."""
