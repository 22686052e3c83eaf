"""The same tests of proofs as beside the prover, where no database is needed."""

from app.ledger.tests.test_merkle import *  # noqa: F403
