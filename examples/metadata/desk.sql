-- Where a desk files what it is asked for. Nothing here is of the organisation.
CREATE TABLE account_requests (id INTEGER PRIMARY KEY, name TEXT, phone TEXT, revenue NUMERIC, active BOOLEAN);
CREATE TABLE case_requests (id INTEGER PRIMARY KEY, subject TEXT, priority TEXT, due DATE);
