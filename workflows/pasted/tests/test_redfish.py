"""What Python writes of a resource is read as literals; what is none ends in a sentence."""

import pytest

from agents.collectors.base import Unparsed
from workflows.pasted import redfish


@pytest.mark.parametrize("odd", ["[]: 1", "'a': print(1)", "'a': " + "[" * 5000 + "]" * 5000, "'a': 1 +"])
def test_what_is_no_literal_of_a_resource_is_torn(odd):
    assert isinstance(redfish.parse([f"{{'@odata.id': '/redfish/v1/x', {odd}}}"]), Unparsed)
