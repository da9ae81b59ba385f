package bench_test

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"sync"
	"testing"
	"time"
)

// TestCallsWithoutGrowth makes BAILIWICK_CALLS calls, which are point reads and pages. It measures the process's
// memory after each tenth of the calls. After the second tenth, the memory may grow by at most an eighth. At 115
// calls a second, a day has 10 million calls. 32 callers share one token.
func TestCallsWithoutGrowth(t *testing.T) {
	total, err := strconv.Atoi(os.Getenv("BAILIWICK_CALLS"))
	if err != nil {
		t.Skip("LEFT OUT: millions of calls take an hour; see make soak")
	}
	const callers, tenths = 32, 10
	file, token := served(t)
	p := start(t, program(t), "serve", "--config", file, "--listen", "127.0.0.1:0")
	found := &bytes.Buffer{}
	if err := modern(t, p.url, token, "query_class", `{"class_name":"issues","order":"id","keys":["id"],"limit":1}`).send(t.Context(), found); err != nil {
		t.Fatal(err)
	}
	id := string(regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`).Find(found.Bytes()))
	var at []float64
	for range tenths {
		var wg sync.WaitGroup
		for range callers {
			wg.Go(func() {
				into := &bytes.Buffer{}
				point := modern(t, p.url, token, "get_object", fmt.Sprintf(`{"class_name":"issues","object_id":%q}`, id))
				page := modern(t, p.url, token, "query_class", `{"class_name":"issues","order":"id",`+fields+`}`)
				for i := range total / tenths / callers {
					one := point
					if i%20 == 0 {
						one = page
					}
					// If the machine stalls for half a minute, some calls fail and the following calls wait.
					for tries := 1; ; tries++ {
						err := one.send(t.Context(), into)
						if err == nil {
							break
						}
						if tries == 60 {
							t.Error(err)
							return
						}
						time.Sleep(time.Second)
					}
				}
			})
		}
		wg.Wait()
		at = append(at, p.resident(t))
	}
	p.stop(t)
	t.Logf("%d calls; MiB in memory after each tenth: %.0f", total, at)
	if at[tenths-1] > at[1]*9/8 {
		t.Errorf("the process grew from %.0f to %.0f MiB", at[1], at[tenths-1])
	}
}
