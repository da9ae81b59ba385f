// Package store contains the code that both stores share, over a small interface to their SQL database.
//
//	store/sqlite, store/postgres → store: changes, tokens, records of the audit, migrations
//
// It encodes changes, tokens and audit records into columns, sets times by the store's clock, and pages through the
// audit. A Journal keeps audit records in append-only files until a store has moved them into its tables. MoveRecords
// moves old records into an archive. An ArchivedLog reads the files and the store as one log. Package storetest is
// the test suite of both stores.
package store
