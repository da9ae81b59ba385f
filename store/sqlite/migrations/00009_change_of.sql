-- A change that isn't the asker's is looked for, and not found, as one that isn't there.
CREATE INDEX change_id_principal ON change (id, principal);
CREATE INDEX change_id_tenant ON change (id, tenant);
