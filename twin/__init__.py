"""The simulated node: a `Host` that answers as a storage node would, with a state that outlives its player.

    model       what a node is made of          demo       the four nodes of the demo fleet
    host        TwinHost, the door              scenarios  tiny nodes for tests
    commands    what it answers                 play       the real agent on a twin
    replacing   the one thing done to it that matters

Whatever it prints is held to genuine captures by `twin/tests/test_texts.py`; what it has no answer to, it refuses.
"""
