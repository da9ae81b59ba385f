package bench_test

import (
	"context"
	"crypto/md5"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/stdlib"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/bailiwick-dev/bailiwick/test/services"
)

// filledDocuments creates the collections of many on FerretDB with fewer documents and returns the address. A
// document can have at most 16 MB.
func filledDocuments(t *testing.T) string {
	t.Helper()
	address := services.FerretDB(t)
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
		count, each int // number of documents, and how many of them are sent at once
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

// textOf returns a function for documents with a text of times × 32 bytes.
func textOf(times int, sum func(id, times int) string) func(id int) bson.D {
	return func(id int) bson.D {
		return bson.D{{Key: "_id", Value: int64(id)}, {Key: "id", Value: int64(id)}, {Key: "n", Value: int32(id % 7)}, {Key: "text", Value: sum(id, times)}}
	}
}

// filledParse creates the classes of many on Parse Server with fewer records. It returns the configuration of a
// source for it. Records of Parse Server have their own id and no other field may have this name. The field is called
// num instead.
func filledParse(t *testing.T) string {
	t.Helper()
	s := services.ParseAlone(t)
	master := func(method, path, body string) {
		t.Helper()
		r, err := http.NewRequestWithContext(context.WithoutCancel(t.Context()), method, s.URL()+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-Parse-Application-Id", s.AppID)
		r.Header.Set("X-Parse-Master-Key", s.MasterKey)
		r.Header.Set("Content-Type", "application/json")
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			t.Fatal(method, path, resp.Status)
		}
	}
	db := stdlib.OpenDBFromPool(pool(t, s.Database))
	defer db.Close()
	for class, filled := range map[string]string{
		"events": `n, text) SELECT substr(md5(i::text), 1, 10), now(), now(), i, i % 7, lpad((i * 7919 % 200003)::text, 400, '0') FROM generate_series(1, 20000) AS i`,
		"files":  `title, body) VALUES ('fileNumber1', now(), now(), 1, 'a file', repeat('0', 15000000)), ('fileNumber2', now(), now(), 2, 'a file', repeat('0', 2000000))`,
		"notes":  `n, text) SELECT substr(md5(i::text), 1, 10), now(), now(), i, i % 7, repeat(md5(i::text), 63) FROM generate_series(1, 5000) AS i`,
		"pages":  `n, text) SELECT substr(md5(i::text), 1, 10), now(), now(), i, i % 7, repeat(md5(i::text), 2813) FROM generate_series(1, 500) AS i`,
		"books":  `n, text) SELECT substr(md5(i::text), 1, 10), now(), now(), i, i % 7, repeat(md5(i::text), 250000) FROM generate_series(1, 20) AS i`,
	} {
		fields := `"num":{"type":"Number"},"n":{"type":"Number"},"text":{"type":"String"}`
		if class == "files" {
			fields = `"num":{"type":"Number"},"title":{"type":"String"},"body":{"type":"String"}`
		}
		master("POST", "/schemas/"+class, `{"className":"`+class+`","fields":{`+fields+`}}`)
		t.Cleanup(func() {
			master("DELETE", "/purge/"+class, "")
			master("DELETE", "/schemas/"+class, "")
		})
		if _, err := db.ExecContext(t.Context(), "INSERT INTO "+class+` ("objectId", "createdAt", "updatedAt", num, `+filled); err != nil {
			t.Fatal(err)
		}
	}
	return fmt.Sprintf("{url: parse+%s, parse: {app_id: %s, master_key: %s, as: master}}", s.URL(), s.AppID, s.MasterKey)
}
