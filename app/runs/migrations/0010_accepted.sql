-- A loss that must be accepted by name. A plan that takes the last redundancy, or of which it is not known how much is left, says in
-- `accepts` which sentence that is; the ledger tells of who approves it, breaks the glass or gives its order with that very sentence.

-- Whether a plan takes so much away. No answer counts as yes.
CREATE FUNCTION runs_plan_loses(body jsonb) RETURNS boolean
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT CASE
        WHEN NOT coalesce(body -> 'redundancy' ?& ARRAY['margin_now', 'margin_during'], false) THEN false
        WHEN body #>> '{redundancy,margin_during}' = 'unknown' THEN true
        ELSE (body #>> '{redundancy,margin_during}')::integer <= 0
             AND (body #>> '{redundancy,margin_now}')::integer > (body #>> '{redundancy,margin_during}')::integer
    END
$$;

CREATE FUNCTION runs_plan_begins() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NEW.accepts = '' AND runs_plan_loses(NEW.body) IS NOT FALSE THEN
        RAISE EXCEPTION 'A plan that takes the last redundancy says what must be accepted.' USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$;

-- Whether nothing must be accepted for this plan, or the ledger tells that this person did: by the event under that leaf, or by any.
CREATE FUNCTION runs_ledger_accepts(leaf_hex text, type_wanted text, plan text, person bigint) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT EXISTS (
        SELECT FROM runs_plan p WHERE p.digest = plan AND (p.accepts = '' OR EXISTS (
            SELECT FROM ledger_event e JOIN accounts_user u ON u.id = person
            WHERE e.run = p.run_id::text AND (leaf_hex IS NULL OR encode(e.leaf, 'hex') = leaf_hex)
              AND e.type = type_wanted AND e.actor = u.username
              AND convert_from(e.body, 'UTF8')::json -> 'body' ->> 'plan_digest' = plan
              AND convert_from(e.body, 'UTF8')::json -> 'body' ->> 'accepts' = p.accepts
        ))
    )
$$;

CREATE FUNCTION runs_approval_accepts() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NOT runs_ledger_accepts(NEW.leaf, 'run.approved', NEW.plan_id, NEW.approver_id) THEN
        RAISE EXCEPTION 'The ledger does not tell that the approver accepted what is lost.' USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$;

CREATE FUNCTION runs_glass_accepts() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NOT runs_ledger_accepts(NEW.leaf, 'run.glass-broken', NEW.plan_id, NEW.person_id) THEN
        RAISE EXCEPTION 'The ledger does not tell that who broke the glass accepted what is lost.' USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$;

-- At COMMIT, because the ledger is written last.
CREATE FUNCTION runs_order_accepts() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NEW.plan_id IS NOT NULL AND NOT runs_ledger_accepts(NULL, 'run.ordered', NEW.plan_id, NEW.sealed_by_id) THEN
        RAISE EXCEPTION 'The ledger does not tell that who gave the order accepted what is lost.' USING ERRCODE = 'check_violation';
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER runs_plan_begins BEFORE INSERT ON runs_plan FOR EACH ROW EXECUTE FUNCTION runs_plan_begins();
CREATE TRIGGER runs_approval_accepts BEFORE INSERT ON runs_approval FOR EACH ROW EXECUTE FUNCTION runs_approval_accepts();
CREATE TRIGGER runs_glass_accepts BEFORE INSERT ON runs_brokenglass FOR EACH ROW EXECUTE FUNCTION runs_glass_accepts();
CREATE CONSTRAINT TRIGGER runs_order_accepts AFTER INSERT ON runs_order DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION runs_order_accepts();

ALTER TABLE runs_plan ENABLE ALWAYS TRIGGER runs_plan_begins;
ALTER TABLE runs_approval ENABLE ALWAYS TRIGGER runs_approval_accepts;
ALTER TABLE runs_brokenglass ENABLE ALWAYS TRIGGER runs_glass_accepts;
ALTER TABLE runs_order ENABLE ALWAYS TRIGGER runs_order_accepts;
