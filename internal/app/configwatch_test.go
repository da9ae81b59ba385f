package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/config"
)

// TestLook writes a file step by step. After each step, it checks the applied configuration and the log.
func TestLook(t *testing.T) {
	path := filepath.Join(t.TempDir(), "b.yaml")
	write := func(text string) func() error {
		return func() error { return os.WriteFile(path, []byte(text), 0o600) }
	}
	nothing := func() error { return nil }
	const good, other = "sources: {a: {url: sqlite:x}}\n", "sources: {b: {url: sqlite:x}}\n"
	if err := write(good)(); err != nil {
		t.Fatal(err)
	}
	load := func() (*config.Config, error) { return config.Load(path) }
	started, err := load()
	if err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	var applied []string
	w := &ConfigWatcher{told: reading{config: started}, options: WatchOptions{Started: started, File: path, Load: load, Log: slog.New(slog.NewTextHandler(&log, nil)),
		Apply: func(_ context.Context, c *config.Config) ([]string, error) {
			if c.Sources[0].Name == "bad" {
				return nil, errors.New("the rules don't fit")
			}
			applied = append(applied, c.Sources[0].Name)
			return nil, nil
		},
		Restart: func(_, _ *config.Config) []string { return nil },
	}}
	for i, step := range []struct {
		do   func() error
		want string // the applied sources, the number of logged refusals, and whether there are notes
	}{
		{nothing, "[] 0 false"},
		{write(other), "[] 0 false"}, // detected, but not yet applied
		{nothing, "[b] 0 false"},
		{nothing, "[] 0 false"},
		{write("sources: {c: {url: sqlite:x}}\n"), "[] 0 false"},
		{write("sources: {d: {url: sqlite:x}}\n"), "[] 0 false"}, // still being written
		{nothing, "[d] 0 false"},
		{write("sources: ["), "[] 0 false"},
		{write("sources: {e: {url: sqlite:x}}\n"), "[] 0 false"}, // the incomplete file was not reported
		{nothing, "[e] 0 false"},
		{write("souces: {}\n"), "[] 0 false"},
		{nothing, "[] 1 true"},
		{nothing, "[] 0 true"}, // logged once
		{func() error { return os.Remove(path) }, "[] 0 true"},
		{nothing, "[] 1 true"},
		{nothing, "[] 0 true"},
		{write("sources: {bad: {url: sqlite:x}}\n"), "[] 0 true"},
		{nothing, "[] 1 true"},
		{nothing, "[] 0 true"},
		{write(good), "[] 0 true"},
		{nothing, "[a] 0 false"},
		{write(other), "[] 0 false"},
		{write(good), "[] 0 false"}, // changed back
		{nothing, "[] 0 false"},
		{nothing, "[] 0 false"},
	} {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		log.Reset()
		applied = nil
		w.look(t.Context())
		if got := fmt.Sprint(applied, " ", strings.Count(log.String(), "is refused"), " ", w.Notes() != nil); got != step.want {
			t.Errorf("step %d: %s, want %s\n%s", i, got, step.want, log.String())
		}
	}
}

// TestDocuments checks that a document at a URL is read again. If a document can't be read, nothing changes.
func TestDocuments(t *testing.T) {
	const text = "sources: {flow: {openapi: {document: 'https://x.example/a.json', base_url: 'https://x.example'}}}\napis: {flow: {}}\n"
	path := filepath.Join(t.TempDir(), "b.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	operation, failing := "a", false
	load := func() (*config.Config, error) {
		c, err := config.Load(path)
		if err != nil {
			return nil, err
		}
		return c, c.Fetch(func(config.Source) (config.Document, error) {
			if failing {
				return config.Document{}, errors.New("no answer")
			}
			return config.FetchDocument("https://x.example/a.json", func(string) ([]byte, error) {
				return []byte(`{"openapi": "3.0.3", "paths": {"/a": {"get": {"operationId": "` + operation + `", "responses": {}}}}}`), nil
			})
		})
	}
	started, err := load()
	if err != nil {
		t.Fatal(err)
	}
	var applied []string
	w := &ConfigWatcher{options: WatchOptions{File: path, Load: load, Log: slog.New(slog.DiscardHandler), Restart: func(_, _ *config.Config) []string { return nil },
		Apply: func(_ context.Context, c *config.Config) ([]string, error) {
			applied = append(applied, c.Rules.APIs["flow"].Document.Operations[0].ID)
			return nil, nil
		}}, told: reading{config: started}}
	for _, step := range []struct {
		operation string
		failing   bool
		want      string
	}{{"a", false, ""}, {"b", true, ""}, {"b", false, "b"}, {"b", false, "b"}, {"c", false, "b c"}} {
		operation, failing = step.operation, step.failing
		w.documents(t.Context())
		if got := strings.Join(applied, " "); got != step.want {
			t.Errorf("%+v: %s", step, got)
		}
	}
}
