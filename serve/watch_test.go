package serve_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/serve"
)

// TestWatch checks that the configured address and log are used. Rules that change while the program serves take
// effect.
func TestWatch(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "bailiwick.yaml")
	written := func(text string) {
		t.Helper()
		if err := os.WriteFile(file+".new", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(file+".new", file); err != nil {
			t.Fatal(err)
		}
	}
	const config = "listen: 127.0.0.1:9321\nlog: {format: json, level: info}\nstore: sqlite:bailiwick.db\nsources:\n  pictures: {openapi: {document: pictures.json, base_url: http://127.0.0.1:9}}\n"
	if err := os.WriteFile(filepath.Join(dir, "pictures.json"), []byte(pictures), 0o600); err != nil {
		t.Fatal(err)
	}
	written(config + "apis: {pictures: {}}\n")
	log := &lines{}
	s, err := serve.Open(t.Context(), file, serve.Options{Log: log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	if s.Address() != "127.0.0.1:9321" {
		t.Error("the configured address is", s.Address())
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.Watch(ctx, nil)
	}()
	written(config + "apis: {pictures: {hidden: [{operations: [getPicture]}]}}\n")
	log.await(t, "the configuration is in force")
	written(config + "apis: {picture: {}}\n")
	log.await(t, "the configuration is refused")
	stop()
	<-done
}

// lines collects the lines of a log.
type lines struct {
	sync.Mutex
	text strings.Builder
}

func (l *lines) Write(b []byte) (int, error) {
	l.Lock()
	defer l.Unlock()
	return l.text.Write(b)
}

// await waits for a record with the given message in the JSON log.
func (l *lines) await(t *testing.T, message string) {
	t.Helper()
	for begun := time.Now(); time.Since(begun) < time.Minute; time.Sleep(10 * time.Millisecond) {
		l.Lock()
		text := l.text.String()
		l.Unlock()
		for line := range strings.Lines(text) {
			var record struct{ Msg string }
			if err := json.Unmarshal([]byte(line), &record); err != nil {
				t.Fatalf("%v in %s", err, line)
			}
			if strings.HasPrefix(record.Msg, message) {
				return
			}
		}
	}
	t.Fatal("the log doesn't say that", message)
}
