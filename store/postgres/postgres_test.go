package postgres_test

import (
	"sync"
	"testing"

	"github.com/bailiwick-dev/bailiwick/store/postgres"
	"github.com/bailiwick-dev/bailiwick/store/storetest"
	"github.com/bailiwick-dev/bailiwick/testservices"
)

// places gives each place of the suite a database of its own.
func places(t *testing.T) storetest.Open {
	var mu sync.Mutex
	urls := map[string]string{}
	return func(t *testing.T, place string) storetest.Store {
		t.Helper()
		mu.Lock()
		url, ok := urls[place]
		if !ok {
			url = testservices.Postgres(t)
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

func BenchmarkChanges(b *testing.B) {
	s := open(b, testservices.Postgres(b))
	defer s.Close()
	storetest.Benchmark(b, s)
}
