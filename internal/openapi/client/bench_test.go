package client

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// BenchmarkSend measures one read over loopback with a Sender and with only net/http, and one read from a handler in
// the process.
func BenchmarkSend(b *testing.B) {
	body := `{"items":[` + strings.Repeat(`{"id":1,"name":"a name","at":"2026-01-01T00:00:00Z"},`, 40) + `{}]}`
	handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, body)
	})
	srv := httptest.NewServer(handler)
	defer srv.Close()
	run := func(o Options) func(*testing.B) {
		return func(b *testing.B) {
			s := sender(b, o)
			b.ReportAllocs()
			for b.Loop() {
				res, err := s.Send(b.Context(), get("/items"))
				if err != nil || len(res.Body) != len(body) {
					b.Fatal(err)
				}
				res.Close()
			}
		}
	}
	b.Run("net/http", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			r, err := http.NewRequestWithContext(b.Context(), "GET", srv.URL+"/items", nil)
			if err != nil {
				b.Fatal(err)
			}
			r.Header.Set("Authorization", "Bearer s")
			res, err := srv.Client().Do(r)
			if err != nil {
				b.Fatal(err)
			}
			if got, err := io.ReadAll(res.Body); err != nil || len(got) != len(body) {
				b.Fatal(err)
			}
			res.Body.Close()
		}
	})
	b.Run("loopback", run(Options{Base: srv.URL, Credential: BearerHeader("s")}))
	b.Run("handler", run(Options{Handler: handler, Credential: BearerHeader("s")}))
}
