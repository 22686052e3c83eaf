-- As before, but for an order that takes in several disks at once: each that its run holds stands in the order's own text.
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
    IF NEW.nonce = '' OR NOT (runs_puts_back(NEW, said) OR NEW.sealed_by_id IS NOT NULL AND NEW.proved_at IS NOT NULL
       AND NEW.proved_at <= NEW.sealed_at AND NEW.sealed_at - NEW.proved_at <= interval '15 minutes') THEN
        RAISE EXCEPTION 'An order that changes anything is sealed by a person who typed the password within the last 15 minutes, for one stay of the node.'
            USING ERRCODE = 'check_violation';
    END IF;
    SELECT count(*) FILTER (WHERE key LIKE 'pool:%'), count(*) FILTER (WHERE key LIKE 'disk:%') INTO pools, disks
        FROM runs_resourcelock WHERE run_id = NEW.run_id AND fence = NEW.fence;
    IF NEW.fence <= 0 OR NOT EXISTS (SELECT FROM runs_resourcelock WHERE run_id = NEW.run_id AND fence = NEW.fence) THEN
        RAISE EXCEPTION 'The run of this order does not hold what it touches.' USING ERRCODE = 'check_violation';
    END IF;
    IF pools > 1 OR disks > 1 AND EXISTS (
        SELECT FROM runs_resourcelock WHERE run_id = NEW.run_id AND fence = NEW.fence AND key LIKE 'disk:%'
           AND substr(key, 6) <> ALL (string_to_array(coalesce(said -> 'params' ->> 'wwids', ''), ' '))
    ) THEN
        RAISE EXCEPTION 'An order touches one pool, and one disk at most unless its text names each of several.' USING ERRCODE = 'check_violation';
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
