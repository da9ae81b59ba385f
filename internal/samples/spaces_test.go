package samples_test

import (
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/bailiwick-dev/bailiwick/internal/samples"
	"github.com/bailiwick-dev/bailiwick/source/postgres"
	"github.com/bailiwick-dev/bailiwick/test/services"
)

// TestLookInSchemas puts a key into one of twelve schemas with the same table. If a scan covers four schemas, three
// scans must find the key, whichever schema is first. A scan of all schemas must find it at once.
func TestLookInSchemas(t *testing.T) {
	at := services.Postgres(t)
	admin, err := pgx.Connect(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close(t.Context())
	const schemas = 12
	for i := range schemas {
		text := fmt.Sprintf("CREATE SCHEMA desk%02d; CREATE TABLE desk%02d.notes (id int PRIMARY KEY, said text); INSERT INTO desk%02d.notes SELECT i, 'word ' || i FROM generate_series(1, 30) i", i, i, i)
		if i == 7 {
			text += "; UPDATE desk07.notes SET said = 'ghp_0123456789abcdef0123' WHERE id = 30"
		}
		if _, err := admin.PgConn().Exec(t.Context(), text).ReadAll(); err != nil {
			t.Fatal(err)
		}
	}
	s, err := postgres.Open(t.Context(), "desk", at)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.Divide("desk00")
	classes, _, err := s.Describe(t.Context())
	if err != nil || len(classes) != 1 || len(classes[0].Spaces) != schemas {
		t.Fatal(classes, err)
	}
	look := func(b samples.Bounds) (found bool) {
		t.Helper()
		sampler, err := samples.New(s, classes, b)
		if err != nil {
			t.Fatal(err)
		}
		seen, err := sampler.Look(t.Context(), &classes[0], []string{"said"})
		if err != nil {
			t.Fatal(err)
		}
		return seen["said"].Secrets > 0
	}
	first := samples.Usual()
	if look(first) {
		t.Error("without turns, the first four schemas are looked at")
	}
	for range 5 {
		turning := samples.Usual()
		turning.Turns = &samples.Turns{}
		n := 1
		for ; !look(turning) && n < 4; n++ {
		}
		if n > schemas/turning.Schemas {
			t.Errorf("%d looks at %d schemas each did not find it", n, turning.Schemas)
		}
	}
	every := samples.Usual()
	every.Schemas = 0
	if !look(every) || !look(samples.Thorough()) {
		t.Error("a look at every schema did not find it")
	}
}
