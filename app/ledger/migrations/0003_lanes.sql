-- Sixteen writers at once: who finds the head taken does not wait for another's flush to the disk, but seals its event into a lane.
--
-- A lane is a chain of its own, so that every event is in a chain when its transaction has committed. Whoever gets the head next
-- gives the events waiting in lanes their numbers before its own. A transaction that finds the head free, which is
-- nearly every one, numbers its event at COMMIT as before.

CREATE TABLE ledger_lane (
    lane     integer NOT NULL CHECK (lane BETWEEN 1 AND 16),
    n        bigint  NOT NULL CHECK (n > 0),
    event_id bigint  NOT NULL,
    prev     bytea   NOT NULL,
    link     bytea   NOT NULL,
    PRIMARY KEY (lane, n)
);
CREATE TRIGGER ledger_lane_keep BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_lane EXECUTE FUNCTION ledger_refuse();
ALTER TABLE ledger_lane ENABLE ALWAYS TRIGGER ledger_lane_keep;

-- How far each lane has been numbered.
ALTER TABLE ledger_head ADD numbered bigint[] NOT NULL DEFAULT array_fill(0::bigint, ARRAY[16]) CHECK (cardinality(numbered) = 16);
ALTER TABLE ledger_head SET (fillfactor = 10);

-- A fork would be two rows of one seq: the primary key refuses it. That `prev` and `link` are unique follows from seq and SHA-256, and
-- an event cannot be deleted from under its place; checking each again cost as much as sealing.
ALTER TABLE ledger_chain DROP CONSTRAINT ledger_chain_prev_key, DROP CONSTRAINT ledger_chain_link_key, DROP CONSTRAINT ledger_chain_event_id_fkey;
DROP INDEX ledger_event_actor;

-- Gives every event that waits in a lane its number, in the order in which they were written down, and returns how many there were.
-- An event that happened before another is never numbered after it: it was committed, so it is seen here.
CREATE FUNCTION ledger_number() RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    done bigint[];
    first bigint;
    last bytea;
    waits record;
    events bigint[] := '{}';
    links bytea[];
BEGIN
    PERFORM pg_advisory_xact_lock(5310291, 0);
    SELECT h.seq, h.link, h.numbered INTO STRICT first, last, done FROM public.ledger_head h;
    links := ARRAY[last];
    FOR waits IN
        -- Written so that there is one way to run it, by the primary keys, whatever the planner thinks of the tables' sizes.
        SELECT l.lane, l.n, l.event_id, (SELECT e.leaf FROM public.ledger_event e WHERE e.id = l.event_id) AS leaf
        FROM generate_series(1, 16) AS which (lane)
        CROSS JOIN LATERAL (
            SELECT x.lane, x.n, x.event_id FROM public.ledger_lane x WHERE x.lane = which.lane AND x.n > done[which.lane] OFFSET 0) AS l
        ORDER BY l.event_id
    LOOP
        last := sha256('\x02'::bytea || last || waits.leaf);
        links := links || last;
        events := events || waits.event_id;
        IF waits.n > done[waits.lane] THEN
            done[waits.lane] := waits.n;
        END IF;
    END LOOP;
    IF cardinality(events) > 0 THEN
        INSERT INTO public.ledger_chain (seq, event_id, prev, link)
            SELECT first + i, events[i], links[i], links[i + 1] FROM generate_subscripts(events, 1) AS i;
        UPDATE public.ledger_head
            SET seq = first + cardinality(events), prev = links[cardinality(events)], link = last, numbered = done;
    END IF;
    RETURN cardinality(events);
END $$;
REVOKE ALL ON FUNCTION ledger_number() FROM PUBLIC;

-- Runs at COMMIT. The locks are advisory, since a row that is locked and updated by everybody costs more to look at than to seal.
CREATE OR REPLACE FUNCTION ledger_seal() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    head public.ledger_head;
    mine integer := 1 + pg_backend_pid() % 16;
BEGIN
    IF pg_try_advisory_xact_lock(5310291, 0) THEN
        PERFORM public.ledger_number();
        UPDATE public.ledger_head h SET seq = h.seq + 1, prev = h.link, link = sha256('\x02'::bytea || h.link || NEW.leaf)
            RETURNING h.* INTO STRICT head;
        INSERT INTO public.ledger_chain (seq, event_id, prev, link) VALUES (head.seq, NEW.id, head.prev, head.link);
        RETURN NULL;
    END IF;
    FOR tried IN 1..16 LOOP
        EXIT WHEN pg_try_advisory_xact_lock(5310291, mine);
        mine := 1 + mine % 16;
        IF tried = 16 THEN
            PERFORM pg_advisory_xact_lock(5310291, mine);
        END IF;
    END LOOP;
    INSERT INTO public.ledger_lane (lane, n, event_id, prev, link)
        SELECT mine, coalesce(last.n, 0) + 1, NEW.id, before.link, sha256('\x02'::bytea || before.link || NEW.leaf)
        FROM (SELECT) AS one
        LEFT JOIN LATERAL (SELECT x.n, x.link FROM public.ledger_lane x WHERE x.lane = mine ORDER BY x.n DESC LIMIT 1) AS last ON true
        CROSS JOIN LATERAL (SELECT coalesce(last.link, decode(repeat('00', 32), 'hex'))) AS before (link);
    RETURN NULL;
END $$;
