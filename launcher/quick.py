"""The tests of `./run test --quick`: the ones of the lower floors that fail first. They need no server, no browser and no root.

A path is a file, a folder, or one test of a file. Fewer files are collected, which takes most of the time of a short run.
"""

NO_PORTAL = ("-p", "no:django", "-W", "ignore::pytest.PytestConfigWarning")
WORKERS = ("-n", "2", "--dist", "loadfile")
PATHS = (
    "agents/tests/test_executor.py",
    "agents/tests/test_executor_gates.py",
    "agents/tests/test_journal.py",
    "agents/tests/test_operations.py",
    "agents/tests/test_order.py",
    "agents/tests/test_policy.py",
    "agents/tests/test_zdb_label.py",
    "agents/tests/test_zpool_replace.py",
    "agents/tests/test_zpool_status.py",
    "tests/test_architecture.py::test_agents_import_the_standard_library_only",
    "tests/test_architecture.py::test_no_file_of_a_registry_is_forgotten",
    "tests/test_architecture.py::test_no_file_runs_away",
    "tests/test_architecture.py::test_the_twin_imports_agents_and_the_standard_library",
    "tests/test_architecture.py::test_workflows_import_agents_and_pure_parts_of_the_standard_library",
    "tests/test_glossary.py",
    "workflows/situations/tests/test_disk_faulted.py",
    "workflows/situations/tests/test_many_disks_offline.py",
    "workflows/situations/tests/test_phy_errors.py",
    "workflows/situations/tests/test_one_pulled_disk.py",
    "workflows/situations/tests/test_slow_disk.py",
    "workflows/situations/tests/test_zfs_situations.py",
    "workflows/tests/test_decide.py",
    "workflows/tests/test_engine_edges.py",
    "workflows/tests/test_guard_edges.py",
    "workflows/tests/test_guard_edges_of_pools.py",
    "workflows/tests/test_guards.py",
    "workflows/tests/test_lint.py",
    "workflows/tests/test_registry.py",
    "workflows/tests/test_stories.py::test_it_comes_to_its_good_end",
)
ARGUMENTS = (*NO_PORTAL, *WORKERS, "-q", *PATHS)
