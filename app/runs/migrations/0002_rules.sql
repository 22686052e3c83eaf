-- Rules of runs that hold whoever writes to the tables, superusers included: ENABLE ALWAYS, so that
-- session_replication_role does not skip them either.

CREATE SEQUENCE runs_fence;

-- A run keeps who asked for it and what for.
CREATE FUNCTION runs_run_keeps() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        RAISE EXCEPTION 'Run % is kept: runs are never deleted.', OLD.id USING ERRCODE = 'restrict_violation';
    END IF;
    IF (NEW.requester_id, NEW.runbook, NEW.definition_digest, NEW.node, NEW.params, NEW.created_at)
       IS DISTINCT FROM (OLD.requester_id, OLD.runbook, OLD.definition_digest, OLD.node, OLD.params, OLD.created_at) THEN
        RAISE EXCEPTION 'Run % keeps its requester, runbook and target.', OLD.id USING ERRCODE = 'restrict_violation';
    END IF;
    IF NEW.version < OLD.version OR (OLD.ended_at IS NOT NULL AND NEW.status <> OLD.status) THEN
        RAISE EXCEPTION 'Run % does not go back.', OLD.id USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;

CREATE FUNCTION runs_refuse() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RAISE EXCEPTION '% on % is refused: it is kept as it was.', TG_OP, TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;

-- Nobody approves what he asked for. No exemption.
CREATE FUNCTION runs_approval_is_anothers() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF EXISTS (SELECT FROM runs_plan p JOIN runs_run r ON r.id = p.run_id WHERE p.digest = NEW.plan_id AND r.requester_id = NEW.approver_id) THEN
        RAISE EXCEPTION 'The requester of a run cannot approve it.' USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$;

-- An order begins SEALED. A destructive one has a plan of its own run that somebody other than the one who seals it approved.
CREATE FUNCTION runs_order_begins() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NEW.status <> 'SEALED' OR NEW.digest <> encode(sha256(convert_to(NEW.canonical, 'UTF8')), 'hex') THEN
        RAISE EXCEPTION 'An order begins as SEALED, under the digest of its text.' USING ERRCODE = 'check_violation';
    END IF;
    IF NEW.plan_id IS NOT NULL AND NOT EXISTS (SELECT FROM runs_plan p WHERE p.digest = NEW.plan_id AND p.run_id = NEW.run_id) THEN
        RAISE EXCEPTION 'The plan of an order belongs to its run.' USING ERRCODE = 'check_violation';
    END IF;
    IF (NEW.destructive OR NEW.effect = 'at_most_once') AND NOT EXISTS (
        SELECT FROM runs_approval a WHERE a.plan_id = NEW.plan_id AND a.approver_id IS DISTINCT FROM NEW.sealed_by_id
    ) THEN
        RAISE EXCEPTION 'Nobody else has approved the plan of this order.' USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$;

-- What was sealed stays as it was; a status moves only along the life of an order; a receipt is given once.
CREATE FUNCTION runs_order_moves() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF (NEW.id, NEW.node, NEW.run_id, NEW.step, NEW.number, NEW.operation, NEW.effect, NEW.destructive, NEW.plan_id, NEW.canonical,
        NEW.digest, NEW.fence, NEW.sealed_by_id, NEW.sealed_at, NEW.expires_at)
       IS DISTINCT FROM
       (OLD.id, OLD.node, OLD.run_id, OLD.step, OLD.number, OLD.operation, OLD.effect, OLD.destructive, OLD.plan_id, OLD.canonical,
        OLD.digest, OLD.fence, OLD.sealed_by_id, OLD.sealed_at, OLD.expires_at) THEN
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
    RETURN NEW;
END $$;

CREATE TABLE runs_order_move (
    pure   boolean NOT NULL,
    before text    NOT NULL,
    after  text    NOT NULL,
    PRIMARY KEY (pure, before, after)
);
INSERT INTO runs_order_move (pure, before, after) VALUES
    (false, 'SEALED', 'OFFERED'), (false, 'SEALED', 'REFUSED'), (false, 'SEALED', 'EXPIRED'),
    (false, 'OFFERED', 'CLAIMED'), (false, 'OFFERED', 'REFUSED'), (false, 'OFFERED', 'EXPIRED'),
    (false, 'CLAIMED', 'STARTED'), (false, 'CLAIMED', 'REFUSED'), (false, 'CLAIMED', 'EXPIRED'),
    (false, 'STARTED', 'SUCCEEDED'), (false, 'STARTED', 'FAILED'), (false, 'STARTED', 'REFUSED'), (false, 'STARTED', 'UNKNOWN'),
    (false, 'UNKNOWN', 'SUCCEEDED'), (false, 'UNKNOWN', 'FAILED'), (false, 'UNKNOWN', 'REFUSED'),
    (true, 'SEALED', 'OFFERED'), (true, 'SEALED', 'EXPIRED'),
    (true, 'OFFERED', 'SUCCEEDED'), (true, 'OFFERED', 'FAILED'), (true, 'OFFERED', 'REFUSED'), (true, 'OFFERED', 'EXPIRED');

CREATE TRIGGER runs_run_keeps BEFORE UPDATE OR DELETE ON runs_run FOR EACH ROW EXECUTE FUNCTION runs_run_keeps();
CREATE TRIGGER runs_plan_keep BEFORE UPDATE OR DELETE ON runs_plan FOR EACH ROW EXECUTE FUNCTION runs_refuse();
CREATE TRIGGER runs_approval_is_anothers BEFORE INSERT ON runs_approval FOR EACH ROW EXECUTE FUNCTION runs_approval_is_anothers();
CREATE TRIGGER runs_approval_keep BEFORE UPDATE OR DELETE ON runs_approval FOR EACH ROW EXECUTE FUNCTION runs_refuse();
CREATE TRIGGER runs_order_begins BEFORE INSERT ON runs_order FOR EACH ROW EXECUTE FUNCTION runs_order_begins();
CREATE TRIGGER runs_order_moves BEFORE UPDATE ON runs_order FOR EACH ROW EXECUTE FUNCTION runs_order_moves();
CREATE TRIGGER runs_order_keep BEFORE DELETE ON runs_order FOR EACH ROW EXECUTE FUNCTION runs_refuse();
CREATE TRIGGER runs_order_move_keep BEFORE UPDATE OR DELETE OR INSERT OR TRUNCATE ON runs_order_move EXECUTE FUNCTION runs_refuse();

ALTER TABLE runs_run ENABLE ALWAYS TRIGGER runs_run_keeps;
ALTER TABLE runs_plan ENABLE ALWAYS TRIGGER runs_plan_keep;
ALTER TABLE runs_approval ENABLE ALWAYS TRIGGER runs_approval_is_anothers;
ALTER TABLE runs_approval ENABLE ALWAYS TRIGGER runs_approval_keep;
ALTER TABLE runs_order ENABLE ALWAYS TRIGGER runs_order_begins;
ALTER TABLE runs_order ENABLE ALWAYS TRIGGER runs_order_moves;
ALTER TABLE runs_order ENABLE ALWAYS TRIGGER runs_order_keep;
ALTER TABLE runs_order_move ENABLE ALWAYS TRIGGER runs_order_move_keep;
