-- Which row of tokens, passwords, memberships, factors, sessions or links an event is about; see app/accounts/seals.py. The newest event about
-- a row is looked up with every seal that is checked, so it has an index, in which only such events stand.
ALTER TABLE ledger_event ADD identity text;
CREATE INDEX ledger_event_identity ON ledger_event (identity, id) WHERE identity IS NOT NULL;

CREATE OR REPLACE FUNCTION ledger_read_body() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
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
    IF NEW.run = '' AND NEW.node = '' THEN
        NEW.identity := nullif(said -> 'body' ->> 'identity', '');
    END IF;
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
