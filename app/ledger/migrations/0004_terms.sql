-- Finding events among millions. Persons are few and act seldom, so their index costs the reports of nodes nothing.
CREATE INDEX ledger_event_person ON ledger_event (actor, id) WHERE actor !~~ 'node:%';
