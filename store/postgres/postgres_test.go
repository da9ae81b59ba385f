package postgres_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/store/postgres"
	"github.com/bailiwick-dev/bailiwick/test/services"
	"github.com/bailiwick-dev/bailiwick/test/storetest"
	"github.com/bailiwick-dev/bailiwick/test/storetest/chain"
	"github.com/bailiwick-dev/bailiwick/test/storetest/clocks"
	"github.com/bailiwick-dev/bailiwick/test/storetest/people"
	"github.com/bailiwick-dev/bailiwick/test/storetest/usage"
)

// places returns a function that gives each place of the suite its own database.
func places(t *testing.T) storetest.Open {
	var mu sync.Mutex
	urls := map[string]string{}
	return func(t *testing.T, place string) storetest.Store {
		t.Helper()
		mu.Lock()
		url, ok := urls[place]
		if !ok {
			url = services.Postgres(t)
			urls[place] = url
		}
		mu.Unlock()
		return open(t, url)
	}
}

func open(t testing.TB, url string) *postgres.Store {
	t.Helper()
	s, err := postgres.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestStore(t *testing.T) { storetest.Run(t, places(t)) }

func TestPeople(t *testing.T) { people.Run(t, places(t)) }

func TestUsage(t *testing.T) { usage.Run(t, places(t)) }

func TestMain(m *testing.M) {
	storetest.Main(m, func(ctx context.Context, url string) (storetest.Store, error) { return postgres.Open(ctx, url) })
}

func TestKill(t *testing.T) {
	storetest.CheckKills(t, func(t *testing.T, url string) storetest.Store { return open(t, url) }, func() string { return services.Postgres(t) }, true)
}

func TestTampering(t *testing.T) {
	url := services.Postgres(t)
	s := open(t, url)
	defer s.Close()
	db := connect(t, url)
	if _, err := db.Exec(t.Context(), "TRUNCATE bailiwick.audit"); err == nil {
		t.Error("the log was emptied")
	}
	chain.CheckTampering(t, s, chain.Database{Schema: "bailiwick.", Byte: `'\x00'`, Off: "ALTER TABLE {audit} DISABLE TRIGGER USER",
		Exec: func(text string) error { _, err := db.Exec(t.Context(), text); return err }})
}

func TestArchived(t *testing.T) {
	chain.CheckArchives(t, func(t *testing.T) chain.Case {
		url := services.Postgres(t)
		s := open(t, url)
		t.Cleanup(func() { s.Close() })
		db := connect(t, url)
		return chain.Case{Store: s, Database: chain.Database{Schema: "bailiwick.", Byte: `'\x00'`,
			Off:  "ALTER TABLE {audit} DISABLE TRIGGER USER;ALTER TABLE {audit}_base DISABLE TRIGGER USER",
			Exec: func(text string) error { _, err := db.Exec(t.Context(), text); return err }}}
	})
}

func TestClockJumps(t *testing.T) {
	clocks.Run(t, func(t *testing.T) clocks.Case {
		url := services.Postgres(t)
		s := open(t, url)
		t.Cleanup(func() { s.Close() })
		db := connect(t, url)
		return clocks.Case{Store: s, Rates: s, Jump: func(by time.Duration) error {
			for _, text := range []string{`UPDATE bailiwick.change SET expires = expires - $1::interval, lease = lease - $1::interval, leased = leased - $1::interval`,
				`UPDATE bailiwick.replica SET seen = seen - $1::interval`,
				`UPDATE bailiwick.rate SET full_at = full_at - (extract(epoch FROM $1::interval) * 1e9)::bigint`} {
				if _, err := db.Exec(t.Context(), text, by); err != nil {
					return err
				}
			}
			return nil
		}}
	})
}

func BenchmarkAppendParallel(b *testing.B) {
	s := open(b, services.Postgres(b))
	defer s.Close()
	b.SetParallelism(64)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			r := record(1)
			if err := s.Append(b.Context(), &r); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkChanges(b *testing.B) {
	s := open(b, services.Postgres(b))
	defer s.Close()
	storetest.Benchmark(b, s)
}
