-- For the metrics of the queue: pending changes by source and risk. The lowest id is the oldest change.

CREATE INDEX change_waiting ON bailiwick.change (source, risk, id) WHERE state = 'pending';
