"""One function within limits, for who may begin no process of multiprocessing's: pickled on the input, its answer pickled on the output."""

import os
import pickle
import sys

from confined import within_limits


def main() -> None:
    function, args = pickle.loads(sys.stdin.buffer.read())  # from `confined.run`, and nobody else
    with os.fdopen(os.dup(1), "wb") as answers:
        os.dup2(2, 1)  # what the function prints is no part of its answer
        answers.write(within_limits(function, args))


if __name__ == "__main__":
    main()
