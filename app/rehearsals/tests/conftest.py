from app.runs.tests.conftest import ann, oss01

__all__ = ["ann", "oss01"]
