package bench_test

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"sync"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/console"
	"github.com/bailiwick-dev/bailiwick/mcp"
)

// waiting is the number of pending changes in the benchmark of the console.
const waiting = 10_000

// BenchmarkConsole measures a page of the console over HTTP with 10,000 pending changes. It includes the visibility
// and the checks of the change, but not the rendering by a browser. The target is 200 ms.
func BenchmarkConsole(b *testing.B) {
	for _, kind := range kinds {
		b.Run(kind+"_store", func(b *testing.B) {
			o := newOffice(b, "sqlite", kind)
			one := o.fill(b)
			ask := o.signIn(b)
			for _, p := range []struct{ name, path string }{{"queue", "/changes"}, {"search", "/changes?q=little"}, {"change", "/changes/" + one}} {
				b.Run(p.name, func(b *testing.B) {
					for b.Loop() {
						ask(b, p.path)
					}
				})
			}
		})
	}
}

// fill files pending changes by 200 agents and returns the id of one.
func (o *office) fill(b *testing.B) string {
	b.Helper()
	one, _, err := o.propose(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	kept, err := o.plant.Store.Get(b.Context(), one)
	if err != nil {
		b.Fatal(err)
	}
	const fillers = 100 // a store combines concurrent writes
	var wait sync.WaitGroup
	for filler := range fillers {
		wait.Go(func() {
			for i := filler; i < waiting-1; i += fillers {
				c := *kept
				c.Agent.Principal = fmt.Sprintf("token:%d", i%200)
				c.ID, c.Digest = fmt.Sprintf("%s%05d", one[:21], i), fmt.Sprintf("%064d", i)
				if _, err := o.plant.Store.Put(b.Context(), &c, change.Filing{Life: 24 * time.Hour, Most: waiting}); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wait.Wait()
	return one
}

var markOf = regexp.MustCompile(`name="mark" value="([^"]+)"`)

// signIn serves the console and signs the reviewer in. It returns a function that requests one page of the console.
func (o *office) signIn(b testing.TB) (ask func(b testing.TB, path string)) {
	b.Helper()
	s, err := mcp.New(o.plant.Door())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { s.Close() })
	pages, err := o.plant.Console(b.Context(), s, o.plant.Tokens, slog.New(slog.DiscardHandler))
	if err != nil {
		b.Fatal(err)
	}
	h := httptest.NewServer(pages.Handler())
	b.Cleanup(h.Close)
	jar, err := cookiejar.New(nil)
	if err != nil {
		b.Fatal(err)
	}
	c := httpClient(b)
	c.Jar = jar
	read := func(b testing.TB, res *http.Response, err error) string {
		b.Helper()
		if err != nil {
			b.Fatal(err)
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode != http.StatusOK {
			b.Fatal(res.Status, err, string(body))
		}
		return string(body)
	}
	res, err := c.Get(h.URL + console.Path + "/sign-in")
	mark := markOf.FindStringSubmatch(read(b, res, err))
	if mark == nil {
		b.Fatal("no form to sign in with")
	}
	res, err = c.PostForm(h.URL+console.Path+"/sign-in", url.Values{"mark": {mark[1]}, "credential": {o.secret}})
	read(b, res, err)
	return func(b testing.TB, path string) {
		b.Helper()
		res, err := c.Get(h.URL + console.Path + path)
		read(b, res, err)
	}
}
