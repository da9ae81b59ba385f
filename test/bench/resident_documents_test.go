package bench_test

import (
	"crypto/md5"
	"fmt"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/bailiwick-dev/bailiwick/internal/testservices"
)

// filledDocuments makes the collections of many on FerretDB, with fewer documents, and returns their address. A document holds 16 MB at most.
func filledDocuments(t *testing.T) string {
	t.Helper()
	address := testservices.FerretDB(t)
	client, err := mongo.Connect(options.Client().ApplyURI(address))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Disconnect(t.Context())
	path, _, _ := strings.Cut(address, "?")
	db := client.Database(path[strings.LastIndex(path, "/")+1:])
	sum := func(id, times int) string {
		return strings.Repeat(fmt.Sprintf("%x", md5.Sum(fmt.Append(nil, id))), times)
	}
	for _, c := range []struct {
		name        string
		count, each int // documents, and how many of them are sent at once
		document    func(id int) bson.D
	}{
		{"events", 20_000, 2_000, func(id int) bson.D {
			return bson.D{{Key: "_id", Value: int64(id)}, {Key: "id", Value: int64(id)}, {Key: "n", Value: int32(id % 7)}, {Key: "text", Value: fmt.Sprintf("%0400d", id*7919%200003)}}
		}},
		{"files", 2, 1, func(id int) bson.D {
			return bson.D{{Key: "_id", Value: int64(id)}, {Key: "id", Value: int64(id)}, {Key: "title", Value: "a file"}, {Key: "body", Value: strings.Repeat("0", map[int]int{1: 15_000_000, 2: 2_000_000}[id])}}
		}},
		{"notes", 5_000, 1_000, textOf(63, sum)},
		{"pages", 500, 50, textOf(2_813, sum)},
		{"books", 20, 1, textOf(250_000, sum)},
	} {
		var batch []any
		for id := 1; id <= c.count; id++ {
			if batch = append(batch, c.document(id)); len(batch) == c.each {
				if _, err := db.Collection(c.name).InsertMany(t.Context(), batch); err != nil {
					t.Fatal(err)
				}
				batch = nil
			}
		}
	}
	return address
}

// textOf makes documents with a text of some times 32 bytes.
func textOf(times int, sum func(id, times int) string) func(id int) bson.D {
	return func(id int) bson.D {
		return bson.D{{Key: "_id", Value: int64(id)}, {Key: "id", Value: int64(id)}, {Key: "n", Value: int32(id % 7)}, {Key: "text", Value: sum(id, times)}}
	}
}
