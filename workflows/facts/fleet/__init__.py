"""What the facts of several nodes say together: who a disk is, which labels contradict each other, which nodes are related."""
