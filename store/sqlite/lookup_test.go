package sqlite_test

import (
	"database/sql"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/change"
)

// TestLookedUp checks that a lookup of another's change reads as much as a lookup of a change that doesn't exist. An
// index over the id and the owner decides both cases. The statement names that index, so it fails without it.
func TestLookedUp(t *testing.T) {
	path, ctx := filepath.Join(t.TempDir(), "bailiwick.db"), t.Context()
	s := openFile(t, path)
	defer s.Close()
	c := &change.Change{ID: "01k0", State: change.Pending, Agent: change.Party{Principal: "token:a", Tenant: "acme"}, History: []change.Step{{State: change.Pending}}}
	if _, err := s.Put(ctx, c, change.Filing{Life: time.Hour, Most: 10}); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, tt := range []struct {
		column     string
		own, other change.Of
	}{
		{"principal", change.Of{Principal: "token:a"}, change.Of{Principal: "token:b"}},
		{"tenant", change.Of{Tenant: "acme"}, change.Of{Tenant: "globex"}},
	} {
		var columns string
		if err := db.QueryRow(`SELECT group_concat(name, ' ') FROM pragma_index_info('change_id_' || ?)`, tt.column).Scan(&columns); err != nil || columns != "id "+tt.column {
			t.Errorf("the index is over %q (%v)", columns, err)
		}
		if _, err := s.GetOf(ctx, "01k0", tt.own); err != nil {
			t.Error(err)
		}
		if _, err := s.GetOf(ctx, "01k0", tt.other); !errors.Is(err, change.ErrNone) {
			t.Error(err)
		}
		if _, err := db.Exec(`DROP INDEX change_id_` + tt.column); err != nil {
			t.Fatal(err)
		}
		for _, id := range []string{"01k0", "01k1"} {
			if _, err := s.GetOf(ctx, id, tt.other); err == nil || errors.Is(err, change.ErrNone) {
				t.Errorf("%s without the index: %v", id, err)
			}
		}
	}
}
