package services

import (
	"context"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

const (
	ferretDBVariable = "BAILIWICK_TEST_FERRETDB"
	usersVariable    = "BAILIWICK_TEST_FERRETDB_USERS"
	mingoVariable    = "BAILIWICK_TEST_MINGO"
	largeVariable    = "BAILIWICK_TEST_MINGO_LARGE"
)

// FerretDB returns the URL of a new, empty database on a private FerretDB, which speaks MongoDB's protocol. The database
// is dropped when the test ends.
func FerretDB(t testing.TB) string {
	t.Helper()
	return documents(t, "FerretDB", ferretDBVariable)
}

// FerretDBUsers is FerretDB on a server whose users sign in with a password. The URL has one who may make others.
func FerretDBUsers(t testing.TB) string {
	t.Helper()
	return documents(t, "FerretDB with users", usersVariable)
}

// Mingo returns the URL of a new, empty database on a private server of the npm package mingo, an independent evaluator
// of MongoDB's aggregations. It isn't MongoDB.
func Mingo(t testing.TB) string {
	t.Helper()
	return documents(t, "mingo", mingoVariable)
}

// MingoLarge is Mingo on a server for tests with records of megabytes. The server answers one command at a time, so tests
// beside them would wait.
func MingoLarge(t testing.TB) string {
	t.Helper()
	return documents(t, "mingo for large records", largeVariable)
}

func documents(t testing.TB, what, variable string) string {
	t.Helper()
	server, why := serverURL(variable)
	if why != "" {
		t.Skipf("LEFT OUT: %s: %s", what, why)
	}
	name := newName(t)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		client, err := mongo.Connect(options.Client().ApplyURI(server))
		if err != nil {
			t.Errorf("drop the test's database: %v", err)
			return
		}
		defer client.Disconnect(ctx)
		if err := client.Database(name).RunCommand(ctx, bson.D{{Key: "dropDatabase", Value: 1}}).Err(); err != nil {
			t.Errorf("drop the test's database: %v", err)
		}
	})
	return inDatabase(t, server, name)
}
