-- More rules of runs that hold whoever writes to the tables, superusers included: every trigger is ENABLE ALWAYS.
-- Functions that `0002_rules.sql` made and that are made again here say all that is so now.

-- Who had a hand in the runs that are there already.
INSERT INTO runs_hand (run_id, person_id)
    SELECT r.id, u.id FROM runs_run r, jsonb_array_elements_text(r.state -> 'hands') AS h (name)
    JOIN accounts_user u ON u.username = h.name ON CONFLICT DO NOTHING;
INSERT INTO runs_hand (run_id, person_id) SELECT id, requester_id FROM runs_run ON CONFLICT DO NOTHING;
INSERT INTO runs_lockfence (key, fence) SELECT key, fence FROM runs_resourcelock;
SET CONSTRAINTS ALL IMMEDIATE;  -- what was inserted is checked now, else its tables cannot be altered below
SET CONSTRAINTS ALL DEFERRED;


-- Whether the ledger tells of this: an event of that type, by that person, for that run and plan, under that leaf.
CREATE FUNCTION runs_ledger_tells(leaf_hex text, type_wanted text, plan text, person bigint) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT EXISTS (
        SELECT FROM ledger_event e
        JOIN runs_plan p ON p.digest = plan
        JOIN accounts_user u ON u.id = person
        WHERE e.run = p.run_id::text AND encode(e.leaf, 'hex') = leaf_hex AND e.type = type_wanted AND e.actor = u.username
          AND convert_from(e.body, 'UTF8')::json -> 'body' ->> 'plan_digest' = plan
    )
$$;

-- Nobody approves what he had a hand in. No exemption. What counts is what the ledger tells of, from a fresh sign-in, for a while.
CREATE OR REPLACE FUNCTION runs_approval_is_anothers() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF EXISTS (SELECT FROM runs_plan p JOIN runs_run r ON r.id = p.run_id WHERE p.digest = NEW.plan_id AND r.requester_id = NEW.approver_id)
    OR EXISTS (SELECT FROM runs_plan p JOIN runs_hand h ON h.run_id = p.run_id WHERE p.digest = NEW.plan_id AND h.person_id = NEW.approver_id) THEN
        RAISE EXCEPTION 'Who asked for a run or had a hand in it cannot approve it.' USING ERRCODE = 'check_violation';
    END IF;
    IF NEW.proved_at > NEW.at OR NEW.at - NEW.proved_at > interval '15 minutes' THEN
        RAISE EXCEPTION 'An approval needs a password typed within the last 15 minutes.' USING ERRCODE = 'check_violation';
    END IF;
    IF NEW.expires_at > NEW.at + interval '30 minutes' THEN
        RAISE EXCEPTION 'An approval holds for 30 minutes at most.' USING ERRCODE = 'check_violation';
    END IF;
    IF NOT runs_ledger_tells(NEW.leaf, 'run.approved', NEW.plan_id, NEW.approver_id) THEN
        RAISE EXCEPTION 'The ledger does not tell of this approval.' USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$;

-- A broken glass is kept as it was; only its review is added, once, by another person who had no hand in the run.
CREATE FUNCTION runs_glass_breaks() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NEW.reviewed_at IS NOT NULL THEN
        RAISE EXCEPTION 'A broken glass is reviewed afterwards.' USING ERRCODE = 'check_violation';
    END IF;
    IF NOT EXISTS (SELECT FROM runs_plan p WHERE p.digest = NEW.plan_id AND p.run_id = NEW.run_id) THEN
        RAISE EXCEPTION 'The plan of a broken glass belongs to its run.' USING ERRCODE = 'check_violation';
    END IF;
    IF NEW.proved_at > NEW.at OR NEW.at - NEW.proved_at > interval '15 minutes' OR NEW.expires_at > NEW.at + interval '15 minutes' THEN
        RAISE EXCEPTION 'Breaking the glass needs a password typed within the last 15 minutes, and holds for as long at most.' USING ERRCODE = 'check_violation';
    END IF;
    IF NOT runs_ledger_tells(NEW.leaf, 'run.glass-broken', NEW.plan_id, NEW.person_id) THEN
        RAISE EXCEPTION 'The ledger does not tell of this broken glass.' USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$;

CREATE FUNCTION runs_glass_keeps() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF (NEW.id, NEW.run_id, NEW.plan_id, NEW.person_id, NEW.reason, NEW.at, NEW.proved_at, NEW.expires_at, NEW.leaf)
       IS DISTINCT FROM (OLD.id, OLD.run_id, OLD.plan_id, OLD.person_id, OLD.reason, OLD.at, OLD.proved_at, OLD.expires_at, OLD.leaf)
       OR OLD.reviewed_at IS NOT NULL THEN
        RAISE EXCEPTION 'A broken glass is kept as it was, and so is its review.' USING ERRCODE = 'restrict_violation';
    END IF;
    IF EXISTS (SELECT FROM runs_hand h WHERE h.run_id = NEW.run_id AND h.person_id = NEW.reviewer_id) THEN
        RAISE EXCEPTION 'Who had a hand in the run cannot review it.' USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$;

-- An order begins SEALED and signed. One that changes anything was made out to one stay of the node, and its run holds what it touches.
-- A destructive one has a plan of its own run, approved by enough people who had no hand in it, or a glass broken by who seals it.
CREATE OR REPLACE FUNCTION runs_order_begins() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    said json := NEW.canonical::json;
    needed integer;
    given integer;
    pools integer;
    disks integer;
BEGIN
    IF NEW.status <> 'SEALED' OR NEW.digest <> encode(sha256(convert_to(NEW.canonical, 'UTF8')), 'hex') OR NEW.signature = '' THEN
        RAISE EXCEPTION 'An order begins as SEALED, signed, under the digest of its text.' USING ERRCODE = 'check_violation';
    END IF;
    IF (said ->> 'id', said ->> 'node', said ->> 'operation', said ->> 'effect', said ->> 'fence', said ->> 'plan_digest', said ->> 'nonce')
       IS DISTINCT FROM (NEW.id::text, NEW.node::text, NEW.operation::text, NEW.effect::text, NEW.fence::text, coalesce(NEW.plan_id, '')::text, NEW.nonce::text) THEN
        RAISE EXCEPTION 'The columns of an order say what its text says.' USING ERRCODE = 'check_violation';
    END IF;
    IF NEW.plan_id IS NOT NULL AND NOT EXISTS (SELECT FROM runs_plan p WHERE p.digest = NEW.plan_id AND p.run_id = NEW.run_id) THEN
        RAISE EXCEPTION 'The plan of an order belongs to its run.' USING ERRCODE = 'check_violation';
    END IF;
    IF NEW.effect = 'pure' AND NOT NEW.destructive THEN
        RETURN NEW;
    END IF;
    IF NEW.nonce = '' OR NEW.sealed_by_id IS NULL OR NEW.proved_at IS NULL OR NEW.proved_at > NEW.sealed_at
       OR NEW.sealed_at - NEW.proved_at > interval '15 minutes' THEN
        RAISE EXCEPTION 'An order that changes anything is sealed by a person who typed the password within the last 15 minutes, for one stay of the node.'
            USING ERRCODE = 'check_violation';
    END IF;
    SELECT count(*) FILTER (WHERE key LIKE 'pool:%'), count(*) FILTER (WHERE key LIKE 'disk:%') INTO pools, disks
        FROM runs_resourcelock WHERE run_id = NEW.run_id AND fence = NEW.fence;
    IF NEW.fence <= 0 OR NOT EXISTS (SELECT FROM runs_resourcelock WHERE run_id = NEW.run_id AND fence = NEW.fence) THEN
        RAISE EXCEPTION 'The run of this order does not hold what it touches.' USING ERRCODE = 'check_violation';
    END IF;
    IF pools > 1 OR disks > 1 THEN
        RAISE EXCEPTION 'An order touches one pool and one disk at most.' USING ERRCODE = 'check_violation';
    END IF;
    IF NOT (NEW.destructive OR NEW.effect = 'at_most_once') THEN
        RETURN NEW;
    END IF;
    SELECT greatest(p.approvals_needed, 1) INTO needed FROM runs_plan p WHERE p.digest = NEW.plan_id;
    SELECT count(DISTINCT a.approver_id) INTO given
        FROM runs_approval a JOIN runs_plan p ON p.digest = a.plan_id JOIN runs_run r ON r.id = p.run_id
        WHERE a.plan_id = NEW.plan_id AND a.leaf <> '' AND a.expires_at >= NEW.expires_at
          AND a.approver_id <> NEW.sealed_by_id AND a.approver_id <> r.requester_id
          AND NOT EXISTS (SELECT FROM runs_hand h WHERE h.run_id = r.id AND h.person_id = a.approver_id);
    IF needed IS NULL OR (given < needed AND NOT EXISTS (
        SELECT FROM runs_brokenglass g WHERE g.plan_id = NEW.plan_id AND g.person_id = NEW.sealed_by_id AND g.expires_at >= NEW.expires_at
    )) THEN
        RAISE EXCEPTION 'Not enough other people have approved the plan of this order.' USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$;

-- What was sealed stays as it was; a status moves only along the life of an order; nothing starts without its lock; a receipt is given once.
CREATE OR REPLACE FUNCTION runs_order_moves() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF (NEW.id, NEW.node, NEW.run_id, NEW.step, NEW.number, NEW.operation, NEW.effect, NEW.destructive, NEW.plan_id, NEW.canonical,
        NEW.digest, NEW.fence, NEW.sealed_by_id, NEW.sealed_at, NEW.expires_at, NEW.proved_at, NEW.nonce, NEW.signature, NEW.signed_by)
       IS DISTINCT FROM
       (OLD.id, OLD.node, OLD.run_id, OLD.step, OLD.number, OLD.operation, OLD.effect, OLD.destructive, OLD.plan_id, OLD.canonical,
        OLD.digest, OLD.fence, OLD.sealed_by_id, OLD.sealed_at, OLD.expires_at, OLD.proved_at, OLD.nonce, OLD.signature, OLD.signed_by) THEN
        RAISE EXCEPTION 'Order % is sealed and cannot be changed.', OLD.id USING ERRCODE = 'restrict_violation';
    END IF;
    IF OLD.receipt_digest <> '' AND (NEW.receipt_digest, NEW.receipt) IS DISTINCT FROM (OLD.receipt_digest, OLD.receipt) THEN
        RAISE EXCEPTION 'Order % has its receipt.', OLD.id USING ERRCODE = 'restrict_violation';
    END IF;
    IF NEW.status <> OLD.status AND NOT EXISTS (
        SELECT FROM runs_order_move m WHERE m.pure = (OLD.effect = 'pure') AND m.before = OLD.status AND m.after = NEW.status
    ) THEN
        RAISE EXCEPTION 'Order % is % and cannot become %.', OLD.id, OLD.status, NEW.status USING ERRCODE = 'restrict_violation';
    END IF;
    IF NEW.status <> OLD.status AND NEW.status IN ('CLAIMED', 'STARTED')
       AND NOT EXISTS (SELECT FROM runs_resourcelock l WHERE l.run_id = OLD.run_id AND l.fence = OLD.fence) THEN
        RAISE EXCEPTION 'Order % cannot become %: its run does not hold what it touches any more.', OLD.id, NEW.status USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;

-- The fence of a lock only ever rises, also after it was given back.
CREATE FUNCTION runs_fence_rises() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    INSERT INTO runs_lockfence AS f (key, fence) VALUES (NEW.key, NEW.fence)
        ON CONFLICT (key) DO UPDATE SET fence = excluded.fence WHERE f.fence < excluded.fence;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'The fence % of % is not higher than the last.', NEW.fence, NEW.key USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$;

CREATE FUNCTION runs_fence_keeps() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF TG_OP = 'DELETE' OR NEW.key <> OLD.key OR NEW.fence <= OLD.fence THEN
        RAISE EXCEPTION 'The fence of % only rises.', OLD.key USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER runs_hand_keep BEFORE UPDATE OR DELETE ON runs_hand FOR EACH ROW EXECUTE FUNCTION runs_refuse();
CREATE TRIGGER runs_glass_breaks BEFORE INSERT ON runs_brokenglass FOR EACH ROW EXECUTE FUNCTION runs_glass_breaks();
CREATE TRIGGER runs_glass_keeps BEFORE UPDATE ON runs_brokenglass FOR EACH ROW EXECUTE FUNCTION runs_glass_keeps();
CREATE TRIGGER runs_glass_keep BEFORE DELETE ON runs_brokenglass FOR EACH ROW EXECUTE FUNCTION runs_refuse();
CREATE TRIGGER runs_fence_rises BEFORE INSERT OR UPDATE ON runs_resourcelock FOR EACH ROW EXECUTE FUNCTION runs_fence_rises();
CREATE TRIGGER runs_fence_keeps BEFORE UPDATE OR DELETE ON runs_lockfence FOR EACH ROW EXECUTE FUNCTION runs_fence_keeps();
CREATE TRIGGER runs_keyrotation_keep BEFORE UPDATE OR DELETE ON runs_keyrotation FOR EACH ROW EXECUTE FUNCTION runs_refuse();

ALTER TABLE runs_hand ENABLE ALWAYS TRIGGER runs_hand_keep;
ALTER TABLE runs_brokenglass ENABLE ALWAYS TRIGGER runs_glass_breaks;
ALTER TABLE runs_brokenglass ENABLE ALWAYS TRIGGER runs_glass_keeps;
ALTER TABLE runs_brokenglass ENABLE ALWAYS TRIGGER runs_glass_keep;
ALTER TABLE runs_resourcelock ENABLE ALWAYS TRIGGER runs_fence_rises;
ALTER TABLE runs_lockfence ENABLE ALWAYS TRIGGER runs_fence_keeps;
ALTER TABLE runs_keyrotation ENABLE ALWAYS TRIGGER runs_keyrotation_keep;
