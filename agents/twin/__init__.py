"""The simulated node: a `Host` that answers as a storage node would, with a state that outlives its player."""
