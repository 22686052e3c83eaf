"""The list of a pool's damaged data as a file: a table for a spreadsheet, or lines for a script. What the list lacks is said in it."""

import csv
import io
from collections.abc import Iterable, Iterator

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.utils.text import slugify
from django.views.decorators.http import require_safe

from agents.collectors.zpool_status_errors import snapshot_of
from app.fleet import services
from app.fleet.models import Node
from app.ledger import looking
from workflows.analysis.damaged_data import kind_of, left_out
from workflows.facts import NodeFacts, PoolFacts, known
from workflows.facts.read.data_errors import data_errors

COLUMNS = ("entry", "kind", "snapshot", "what helps")
MEDIA = {"csv": "text/csv; charset=utf-8", "txt": "text/plain; charset=utf-8"}
FORMULA = ("=", "+", "-", "@")  # a spreadsheet computes a cell that begins so
NAMED = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


@login_required
@require_safe
def damaged(request: HttpRequest, name: str, pool_name: str, form: str) -> HttpResponse:
    """Looking, like the page; it is recorded as looking at the evidence that the list was read from."""
    if form not in MEDIA:
        raise Http404(f"The list is there as {' and '.join(MEDIA)}.")
    get_object_or_404(Node, name=name)
    facts = services.facts_near([name]).nodes.get(name)
    pool = next((one for one in facts.pools_read if one.name == pool_name), None) if facts is not None else None
    if facts is None or pool is None:
        raise Http404(f"{name} did not report an imported pool {pool_name}.")
    listed = entries(pool)
    if not listed:
        raise Http404(f"No list of damaged data of {pool_name} was read: {pool.errors or 'zpool status said nothing of errors'}.")
    if digest := evidence_of(facts, pool):
        looking.looked(request.user.get_username(), digest)
    text = table(pool, listed) if form == "csv" else "".join(f"{line}\n" for line in lines(facts, pool, listed))
    headers = {
        "Content-Disposition": f'attachment; filename="damaged-{slugify(name)}-{slugify(pool_name)}.{form}"',
        "X-Content-Type-Options": "nosniff",
    }
    return HttpResponse(text.encode("utf-8", "backslashreplace"), content_type=MEDIA[form], headers=headers)


def entries(pool: PoolFacts) -> tuple[str, ...]:
    """Those that were read, as printed; none where no list was read."""
    errors = data_errors(pool)
    return errors.listed if errors else ()


def evidence_of(facts: NodeFacts, pool: PoolFacts) -> str:
    """The digest of the capture that has the list; "" where it is not known."""
    source = f"zpool_status_errors/{pool.name}" if known(pool.error_list) and pool.error_list.entries else "zpool_status"
    return facts.digests.get(source, "")


def table(pool: PoolFacts, listed: Iterable[str]) -> str:
    """CSV as RFC 4180 has it."""
    out = io.StringIO()
    rows = csv.writer(out, quoting=csv.QUOTE_ALL)
    rows.writerow(COLUMNS)
    for entry in listed:
        kind = kind_of(entry)
        rows.writerow((cell(entry), kind.one, cell(snapshot_of(entry)), kind.cure))
    if left_out(pool):
        rows.writerow((f"{left_out(pool)} more entries are not in this list", "not known", "", "Ask `zpool status -v` on the node."))
    return out.getvalue()


def lines(facts: NodeFacts, pool: PoolFacts, listed: Iterable[str]) -> Iterator[str]:
    """An entry a line. What begins with # is of the list; no entry does."""
    guid = pool.guid if known(pool.guid) else "not known"
    yield f"# {escaped(pool.name)} on {facts.node}, guid {guid}"
    yield from map(escaped, listed)
    if left_out(pool):
        yield f"# {left_out(pool)} more entries are not in this list; ask `zpool status -v` on the node"


def cell(text: str) -> str:
    return f"'{escaped(text)}" if text.startswith(FORMULA) else escaped(text)


def escaped(text: str) -> str:
    """One line, which can be turned back: a backslash is doubled, and a control character is written as Python writes it."""
    return "".join(NAMED.get(sign) or (sign if sign.isprintable() else sign.encode("unicode_escape").decode()) for sign in text)
