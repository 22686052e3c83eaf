-- The ledger: events that are only ever added, and one order over all of them.
--
-- Who may do what:
--   the app role   INSERT ledger_event(body), ledger_blob, ledger_checkpoint; SELECT everything (see app/ledger/grants.py)
--   nobody         UPDATE, DELETE or TRUNCATE: the triggers below are ENABLE ALWAYS, so session_replication_role does not skip them
--   the owner      can still drop a trigger; that is what signed checkpoints and `ledger verify` are for

CREATE TABLE ledger_event (
    id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    body    bytea  NOT NULL,
    leaf    bytea  NOT NULL,
    at      text   NOT NULL CHECK (at ~ '^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$'),
    actor   text   NOT NULL CHECK (actor <> ''),
    type    text   NOT NULL CHECK (type <> ''),
    run     text   NOT NULL,
    node    text   NOT NULL,
    run_seq bigint CHECK ((run = '') = (run_seq IS NULL))
);
CREATE UNIQUE INDEX ledger_event_run ON ledger_event (run, run_seq) WHERE run <> '';
CREATE INDEX ledger_event_node ON ledger_event (node, id) WHERE node <> '';
CREATE INDEX ledger_event_actor ON ledger_event (actor, id);
CREATE INDEX ledger_event_type ON ledger_event (type, id);

CREATE TABLE ledger_chain (
    seq      bigint PRIMARY KEY CHECK (seq > 0),
    event_id bigint NOT NULL UNIQUE REFERENCES ledger_event (id),
    prev     bytea  NOT NULL UNIQUE,
    link     bytea  NOT NULL UNIQUE
);

CREATE TABLE ledger_head (
    one  boolean PRIMARY KEY DEFAULT true CHECK (one),
    seq  bigint  NOT NULL,
    prev bytea   NOT NULL,
    link bytea   NOT NULL
);
INSERT INTO ledger_head (seq, prev, link) VALUES (0, decode(repeat('00', 32), 'hex'), decode(repeat('00', 32), 'hex'));

CREATE TABLE ledger_checkpoint (
    size     bigint PRIMARY KEY CHECK (size > 0),
    root     bytea  NOT NULL CHECK (octet_length(root) = 32),
    frontier bytea  NOT NULL CHECK (octet_length(frontier) % 32 = 0),
    note     text   NOT NULL,
    at       text   NOT NULL
);

-- The database proves the digest of every blob; large values are compressed by PostgreSQL (TOAST).
CREATE TABLE ledger_blob (
    sha256 varchar(64) PRIMARY KEY CHECK (sha256 = encode(sha256(bytes), 'hex')),
    size   bigint NOT NULL CHECK (size = octet_length(bytes)),
    media  text   NOT NULL,
    bytes  bytea  NOT NULL
);


-- Reads the columns out of the body, so that no column can say anything the hashed bytes do not say.
-- A run counts its own events and each names the one before it: an export can then prove that none is left out.
CREATE FUNCTION ledger_read_body() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    said json := convert_from(NEW.body, 'UTF8')::json;
    last_seq bigint;
    last_leaf bytea;
BEGIN
    NEW.leaf := sha256('\x00'::bytea || NEW.body);
    NEW.at := said ->> 'at';
    NEW.actor := said ->> 'actor';
    NEW.type := said ->> 'type';
    NEW.run := said ->> 'run';
    NEW.node := said ->> 'node';
    NEW.run_seq := nullif(said ->> 'run_seq', '')::bigint;
    IF NEW.run <> '' THEN
        SELECT e.run_seq, e.leaf INTO last_seq, last_leaf
            FROM ledger_event e WHERE e.run = NEW.run ORDER BY e.run_seq DESC LIMIT 1;
        IF NEW.run_seq IS DISTINCT FROM coalesce(last_seq, 0) + 1
           OR said ->> 'run_prev' IS DISTINCT FROM coalesce(encode(last_leaf, 'hex'), '') THEN
            RAISE EXCEPTION 'Event % of run % does not follow event % of that run.', NEW.run_seq, NEW.run, coalesce(last_seq, 0)
                USING ERRCODE = 'serialization_failure';
        END IF;
    END IF;
    RETURN NEW;
END $$;

-- Runs at COMMIT. The UPDATE takes the one head row and every later sealer waits for it, so the order has no gap and no fork;
-- because it is the last thing a transaction does, nobody waits longer than one commit.
CREATE FUNCTION ledger_seal() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    head public.ledger_head;
BEGIN
    UPDATE public.ledger_head h SET seq = h.seq + 1, prev = h.link, link = sha256('\x02'::bytea || h.link || NEW.leaf)
        RETURNING h.* INTO STRICT head;
    INSERT INTO public.ledger_chain (seq, event_id, prev, link) VALUES (head.seq, NEW.id, head.prev, head.link);
    RETURN NULL;
END $$;
REVOKE ALL ON FUNCTION ledger_seal() FROM PUBLIC;

CREATE FUNCTION ledger_checkpoint_follows() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NEW.size > (SELECT seq FROM ledger_head) THEN
        RAISE EXCEPTION 'A checkpoint over % events is refused: the ledger is shorter.', NEW.size;
    END IF;
    RETURN NEW;
END $$;

CREATE FUNCTION ledger_refuse() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RAISE EXCEPTION '% on % is refused: the ledger only grows.', TG_OP, TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;


CREATE TRIGGER ledger_event_read BEFORE INSERT ON ledger_event FOR EACH ROW EXECUTE FUNCTION ledger_read_body();
CREATE CONSTRAINT TRIGGER ledger_event_seal AFTER INSERT ON ledger_event
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION ledger_seal();
CREATE TRIGGER ledger_checkpoint_follows BEFORE INSERT ON ledger_checkpoint
    FOR EACH ROW EXECUTE FUNCTION ledger_checkpoint_follows();

CREATE TRIGGER ledger_event_keep BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_event EXECUTE FUNCTION ledger_refuse();
CREATE TRIGGER ledger_chain_keep BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_chain EXECUTE FUNCTION ledger_refuse();
CREATE TRIGGER ledger_head_keep BEFORE DELETE OR TRUNCATE ON ledger_head EXECUTE FUNCTION ledger_refuse();
CREATE TRIGGER ledger_checkpoint_keep BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_checkpoint EXECUTE FUNCTION ledger_refuse();
CREATE TRIGGER ledger_blob_keep BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_blob EXECUTE FUNCTION ledger_refuse();

ALTER TABLE ledger_event ENABLE ALWAYS TRIGGER ledger_event_read;
ALTER TABLE ledger_event ENABLE ALWAYS TRIGGER ledger_event_seal;
ALTER TABLE ledger_event ENABLE ALWAYS TRIGGER ledger_event_keep;
ALTER TABLE ledger_chain ENABLE ALWAYS TRIGGER ledger_chain_keep;
ALTER TABLE ledger_head ENABLE ALWAYS TRIGGER ledger_head_keep;
ALTER TABLE ledger_checkpoint ENABLE ALWAYS TRIGGER ledger_checkpoint_follows;
ALTER TABLE ledger_checkpoint ENABLE ALWAYS TRIGGER ledger_checkpoint_keep;
ALTER TABLE ledger_blob ENABLE ALWAYS TRIGGER ledger_blob_keep;
