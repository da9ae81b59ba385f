package app_test

import (
	"bytes"
	"database/sql"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/internal/app"
	"github.com/bailiwick-dev/bailiwick/internal/config"
)

// TestWithheldIsTold runs a whole gateway over an empty table that is later filled with keys. The owners learn of the
// hidden field from a notification, a metric, a record in the audit and a line in the log. None of these contains a
// value.
func TestWithheldIsTold(t *testing.T) {
	dir := t.TempDir()
	db, err := sql.Open("sqlite", filepath.Join(dir, "app.db")+"?_pragma=journal_mode(wal)&_pragma=busy_timeout(10000)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	exec := func(text string) {
		t.Helper()
		if _, err := db.Exec(text); err != nil {
			t.Fatal(err)
		}
	}
	exec("CREATE TABLE pages (id INTEGER PRIMARY KEY, title TEXT, content TEXT)")
	told := make(chan string, 8)
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		told <- string(body)
	}))
	defer hook.Close()
	file := filepath.Join(dir, "bailiwick.yaml")
	text := fmt.Sprintf("store: sqlite:store.db\nsources: {app: {url: 'sqlite:app.db'}}\nclasses: {pages: {}}\nserver: {metrics: true}\n"+
		"notifications: {webhooks: {ops: {url: %q, private: true, secret: a secret of twenty-four bytes}}}\n", hook.URL)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	var logged bytes.Buffer
	log := slog.New(slog.NewTextHandler(&logged, nil))
	p, err := app.BuildWithTelemetry(t.Context(), c, log)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	o := p.Door()
	o.Logger = log
	s, err := p.Serve(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.MCP.Close()
	stop := s.Work(t.Context(), "http://127.0.0.1:8420")
	metrics := func() string {
		w := httptest.NewRecorder()
		p.Telemetry.Metrics().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
		return w.Body.String()
	}
	if got := metrics(); !strings.Contains(got, "\nbailiwick_fields_withheld 0\n") {
		t.Error("before:", got)
	}
	exec("INSERT INTO pages VALUES (1, 'Keys', 'sk_live_51HxQz9vTnWqcanary1'), (2, 'More', 'sk_live_51HxQz9vTnWqcanary2')")
	if err := p.Gateway.Resample(t.Context()); err != nil {
		t.Fatal(err)
	}
	body := ""
	select {
	case body = <-told:
	case <-time.After(20 * time.Second):
		t.Fatal("nobody is notified")
	}
	if !strings.Contains(body, `"type":"field.withheld"`) || !strings.Contains(body, `"field":"app.pages.content"`) || !strings.Contains(body, "2 of 2 sampled values look like credentials") {
		t.Error(body)
	}
	gauge := metrics()
	if !strings.Contains(gauge, "\nbailiwick_fields_withheld 1\n") {
		t.Error("after:", gauge)
	}
	recorded := ""
	if err := p.Store.Records(t.Context(), audit.First, func(r audit.Record) bool {
		if r.Tool == "fields/withheld" {
			recorded += fmt.Sprintf("%s %s %s %v %s\n", r.Principal, r.Class, r.Kind, r.Uses, r.Step)
		}
		return true
	}); err != nil {
		t.Fatal(err)
	}
	if want := "gateway app.pages withheld [app.pages.content] withheld:app.pages.content:" + p.Gateway.PolicyVersion() + "\n"; recorded != want {
		t.Errorf("%q, want %q", recorded, want)
	}
	stop()
	if !strings.Contains(logged.String(), "field=app.pages.content") {
		t.Error(logged.String())
	}
	if all := body + gauge + recorded + logged.String(); strings.Contains(all, "canary") {
		t.Error("a value is told: ", all)
	}
}
