"""The prover against the verifier: two algorithms, written apart, must agree on every tree and on every lie."""

import pytest

from app.ledger import merkle
from app.ledger.merkle import Tree, consistency_spans, frontier_root, full_subtrees, grow, inclusion_spans, leaf_hash
from app.ledger.verify import climbs, follows

# The inputs and roots of the reference implementation of RFC 6962 (Certificate Transparency), trees of 1 to 8 leaves.
INPUTS = ("", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f")
ROOTS = (
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
)
UP_TO = 64
LEAVES = [leaf_hash(str(number).encode()) for number in range(UP_TO)]


@pytest.mark.parametrize("size", range(1, 9))
def test_it_makes_the_roots_of_the_reference_implementation(size):
    leaves = [leaf_hash(bytes.fromhex(text)) for text in INPUTS[:size]]
    assert Tree(leaves).root().hex() == ROOTS[size - 1]


def test_it_proves_every_leaf_of_every_tree_up_to_64():
    proven = 0
    for size in range(1, UP_TO + 1):
        tree = Tree(LEAVES[:size])
        for index in range(size):
            assert climbs(LEAVES[index], index, size, tree.path(index), tree.root())
            proven += 1
    assert proven == UP_TO * (UP_TO + 1) // 2 == 2080


def test_it_proves_that_each_tree_up_to_64_continues_each_smaller_one():
    proven = 0
    for size in range(2, UP_TO + 1):
        tree = Tree(LEAVES[:size])
        new = {"size": size, "root": tree.root()}
        for count in range(1, size):
            old, path = {"size": count, "root": Tree(LEAVES[:count]).root()}, tree.consistency(count)
            assert follows(old, new, path)
            assert not follows(old | {"root": LEAVES[0] if count > 1 else LEAVES[1]}, new, path)
            assert not follows(old, new | {"root": LEAVES[0]}, path)
            assert not follows(old, new, [*path, LEAVES[0]])
            assert not follows(old, new, path[:-1])
            assert not follows(new, old, path)
            proven += 1
    assert proven == UP_TO * (UP_TO - 1) // 2


def test_it_takes_no_proof_for_another_leaf_place_or_size():
    """Each lie about a tree of 1 to 20 leaves, by exhaustion. Sizes whose path has the same shape are told apart by the root alone."""
    for size in range(1, 21):
        tree = Tree(LEAVES[:size])
        for index in range(size):
            path, root = tree.path(index), tree.root()
            assert not climbs(LEAVES[index + 1], index, size, path, root)
            assert not any(climbs(LEAVES[index], other, size, path, root) for other in range(size + 2) if other != index)
            assert not climbs(LEAVES[index], index, size, [*path, root], root)
            assert not any(climbs(LEAVES[index], index, size, path[:i] + path[i + 1 :], root) for i in range(len(path)))
            for at in range(len(path)):
                bent = [*path[:at], bytes([path[at][0] ^ 1]) + path[at][1:], *path[at + 1 :]]
                assert not climbs(LEAVES[index], index, size, bent, root)


def test_it_refuses_a_leaf_that_is_not_in_the_tree():
    with pytest.raises(IndexError):
        Tree(LEAVES[:3]).path(3)
    assert not climbs(LEAVES[0], 0, 0, [], merkle.EMPTY)


@pytest.mark.parametrize(("old", "size"), [(0, 3), (-1, 3), (4, 3), (1, 0)])
def test_it_proves_no_continuation_of_nothing_or_of_a_larger_tree(old, size):
    with pytest.raises(IndexError):
        Tree(LEAVES[:size]).consistency(old)


def test_what_a_proof_is_made_of_consists_of_full_subtrees_in_their_places():
    """So it can be read from the database, where only full subtrees are kept."""
    for size in range(1, UP_TO + 1):
        for spans in (*(inclusion_spans(i, size) for i in range(size)), *(consistency_spans(old, size) for old in range(1, size + 1))):
            for start, end in spans:
                found = full_subtrees(start, end)
                covered = [leaf for level, place in found for leaf in range(place << level, (place + 1) << level)]
                assert covered == list(range(start, end))
                assert len(found) == (end - start).bit_count()


def test_it_grows_the_same_root_however_the_leaves_arrive():
    for size in range(UP_TO + 1):
        for cut in range(size + 1):
            frontier = grow(grow([], 0, LEAVES[:cut]), cut, LEAVES[cut:size])
            assert frontier_root(frontier) == Tree(LEAVES[:size]).root()
            assert len(frontier) == size.bit_count()


def test_it_tells_a_leaf_from_a_node():
    left, right = LEAVES[:2]
    assert leaf_hash(left + right) != merkle.node_hash(left, right)
