-- A change is found by its id and whose it is in one look: one that is another's is no more read than one that isn't there.
CREATE INDEX change_id_principal ON bailiwick.change USING hash ((id || ' ' || encode(principal, 'hex')))

CREATE INDEX change_id_tenant ON bailiwick.change USING hash ((id || ' ' || encode(tenant, 'hex')))
