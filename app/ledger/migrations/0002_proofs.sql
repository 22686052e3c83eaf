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

-- Redaction: the one change an event or a piece of evidence may see is that its bytes are erased, and only after an event of the ledger
-- says so. Leaf, chain and tree stand. The app role has no UPDATE; `ledger redact` runs as the owner.
ALTER TABLE ledger_event ALTER body DROP NOT NULL;
ALTER TABLE ledger_blob ALTER bytes DROP NOT NULL;

CREATE FUNCTION ledger_event_redact() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    before ledger_event := OLD;
BEGIN
    before.body := NULL;
    IF OLD.body IS NOT NULL AND NEW IS NOT DISTINCT FROM before AND OLD.type !~ '[.](redacted|key-rotated|exported)$' AND EXISTS (
        SELECT FROM ledger_event r WHERE r.type = 'event.redacted' AND r.body IS NOT NULL
            AND convert_from(r.body, 'UTF8')::json -> 'body' ->> 'leaf' = encode(OLD.leaf, 'hex'))
    THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION '% on % is refused: the ledger only grows.', TG_OP, TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;

CREATE FUNCTION ledger_blob_redact() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    before ledger_blob := OLD;
BEGIN
    before.bytes := NULL;
    IF OLD.bytes IS NOT NULL AND NEW IS NOT DISTINCT FROM before AND EXISTS (
        SELECT FROM ledger_event r WHERE r.type = 'evidence.redacted' AND r.body IS NOT NULL
            AND convert_from(r.body, 'UTF8')::json -> 'body' ->> 'digest' = OLD.sha256)
    THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION '% on % is refused: the ledger only grows.', TG_OP, TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;

DROP TRIGGER ledger_event_keep ON ledger_event;
DROP TRIGGER ledger_blob_keep ON ledger_blob;
CREATE TRIGGER ledger_event_keep BEFORE DELETE OR TRUNCATE ON ledger_event EXECUTE FUNCTION ledger_refuse();
CREATE TRIGGER ledger_blob_keep BEFORE DELETE OR TRUNCATE ON ledger_blob EXECUTE FUNCTION ledger_refuse();
CREATE TRIGGER ledger_event_redact BEFORE UPDATE ON ledger_event FOR EACH ROW EXECUTE FUNCTION ledger_event_redact();
CREATE TRIGGER ledger_blob_redact BEFORE UPDATE ON ledger_blob FOR EACH ROW EXECUTE FUNCTION ledger_blob_redact();
ALTER TABLE ledger_event ENABLE ALWAYS TRIGGER ledger_event_keep;
ALTER TABLE ledger_blob ENABLE ALWAYS TRIGGER ledger_blob_keep;
ALTER TABLE ledger_event ENABLE ALWAYS TRIGGER ledger_event_redact;
ALTER TABLE ledger_blob ENABLE ALWAYS TRIGGER ledger_blob_redact;

-- Who looked at which evidence lately; see app/ledger/looking.py. Other events pay nothing for it.
CREATE INDEX ledger_event_looked ON ledger_event (actor, at) WHERE type = 'evidence.looked';
