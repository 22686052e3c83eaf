-- The Merkle tree's full subtrees of 16, 256, 4096, ... events: written once, when a checkpoint first covers them, so that a proof
-- reads some dozens of rows. Nothing rests on them: what they prove is checked against a signed root each time.
CREATE TABLE ledger_node (
    level    integer NOT NULL CHECK (level > 0 AND level % 4 = 0),
    position bigint  NOT NULL CHECK (position >= 0),
    hash     bytea   NOT NULL CHECK (octet_length(hash) = 32),
    PRIMARY KEY (level, position)
);
CREATE TRIGGER ledger_node_keep BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_node EXECUTE FUNCTION ledger_refuse();
ALTER TABLE ledger_node ENABLE ALWAYS TRIGGER ledger_node_keep;
