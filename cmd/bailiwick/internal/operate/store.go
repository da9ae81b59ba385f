package operate

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/bailiwick-dev/bailiwick/cmd/bailiwick/internal/terminal"
	"github.com/bailiwick-dev/bailiwick/internal/app"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/internal/health"
	"github.com/bailiwick-dev/bailiwick/store/postgres"
	"github.com/bailiwick-dev/bailiwick/store/sqlite"
)

// checkStore checks the store and the processes that share it.
func checkStore(ctx context.Context, c *config.Config) []finding {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	path, isFile := app.StorePath(c.Store)
	switch {
	case !isFile:
		return checkPostgresStore(ctx, c)
	case path == sqlite.Memory:
		return []finding{{State: good, About: "store", Text: "temporary: it ends with the server"}}
	}
	return inFile(ctx, c, path)
}

// inFile checks a store in a file.
func inFile(ctx context.Context, c *config.Config, path string) []finding {
	const about = "store"
	e, err := sqlite.Examine(ctx, path)
	if errors.Is(err, fs.ErrNotExist) {
		return []finding{{warning, about, "there is no file " + path, "the first start makes it. If there was one, put it back first"}}
	}
	if err != nil {
		f := errorFinding(about, err)
		f.Do = `look at the file; "bailiwick store check" says what is damaged, and "bailiwick store restore" puts a backup in its place`
		return []finding{f}
	}
	out := []finding{version(fmt.Sprintf("SQLite file %s", path), e.Version, e.Newest)}
	if e.Unwritable != nil {
		f := errorFinding(about, e.Unwritable)
		f.Do = "let the user of the server write the file and its folder"
		out = append(out, f)
	}
	if !e.Private {
		out = append(out, finding{warning, about, "other users of this machine can read or write " + path, "chmod 600 " + path})
	}
	return append(out, processes(c, e.Replicas)...)
}

// checkPostgresStore checks a store in PostgreSQL.
func checkPostgresStore(ctx context.Context, c *config.Config) []finding {
	const about = "store"
	e, err := postgres.Examine(ctx, c.Store)
	if err != nil {
		return []finding{errorFinding(about, err)}
	}
	text := e.Server + " at " + app.StoreName(c.Store)
	if e.Pooled {
		text += " behind a pooler in session mode"
	}
	out := []finding{version(text, e.Version, e.Newest)}
	for _, right := range e.Lacks {
		out = append(out, finding{fault, about, "the user lacks the right " + right, "let the user of the store own the schema: ALTER SCHEMA bailiwick OWNER TO …, and its tables likewise"})
	}
	if e.Unwritable != nil {
		out = append(out, errorFinding(about, e.Unwritable))
	}
	if e.Clock.Abs() > health.MaxClock {
		out = append(out, finding{warning, "clock", fmt.Sprintf("this machine is %s the store", ahead(e.Clock)), "set the clocks of both machines by a time server"})
	} else {
		out = append(out, finding{State: good, About: "clock", Text: "this machine and the store agree"})
	}
	return append(out, processes(c, e.Replicas)...)
}

// ahead describes the difference of a clock, such as "3 s ahead of" or "3 s behind".
func ahead(by time.Duration) string {
	if by < 0 {
		return fmt.Sprint(-by.Round(time.Second), " behind")
	}
	return fmt.Sprint(by.Round(time.Second), " ahead of")
}

// version compares the version of a store with the version of this program.
func version(text string, is, newest int) finding {
	const about = "store"
	switch {
	case is == 0:
		return finding{warning, about, text + ": it has no tables yet", "the first start makes them. If there was a store, look at its URL"}
	case is > newest:
		return finding{fault, about, fmt.Sprintf("%s: version %d, and this program knows %d: a newer program made it", text, is, newest), "use the newer program, or restore the copy from before the upgrade"}
	case is < newest:
		return finding{warning, about, fmt.Sprintf("%s: version %d of %d", text, is, newest), "the next start upgrades it. Stop servers of the older version first"}
	}
	return finding{State: good, About: about, Text: fmt.Sprintf("%s: version %d", text, is)}
}

// processes compares the processes that share a store with the configuration and with one another.
func processes(c *config.Config, rows []health.ReplicaRow) []finding {
	const about = "replicas"
	if len(rows) == 0 {
		return []finding{{State: good, About: about, Text: "no server runs with this store"}}
	}
	want := health.ReplicaRow{Rules: c.Rules.Version, Key: rows[0].Key, Program: app.Version()}
	if c.Audit.Key != nil {
		want.Key = health.KeyID(ed25519.NewKeyFromSeed(c.Audit.Key).Public().(ed25519.PublicKey))
	}
	var out []finding
	for _, r := range rows {
		for _, kind := range r.Differs(want) {
			out = append(out, differs(r, want, kind))
		}
	}
	if out == nil {
		out = []finding{{State: good, About: about, Text: terminal.Count(len(rows), "process") + " with these rules, one audit key and this program"}}
	}
	return out
}

// differs describes a difference between a process and the configuration.
func differs(r, want health.ReplicaRow, kind health.DifferenceKind) finding {
	const about = "replicas"
	switch kind {
	case health.DifferentRules:
		return finding{warning, about, fmt.Sprintf("%s serves rules %s, and the configuration has %s", r.Name, r.Rules, want.Rules), "give it this configuration, or read in its log why it refuses it"}
	case health.DifferentKey:
		return finding{fault, about, fmt.Sprintf("%s signs the audit with key %s, not %s", r.Name, r.Key, want.Key), "give all processes the same audit.key and restart them: audit verify believes one key"}
	case health.DifferentProgram:
		return finding{warning, about, fmt.Sprintf("%s runs version %s, and this is %s", r.Name, r.Program, want.Program), "run the same version everywhere"}
	}
	return finding{warning, about, fmt.Sprintf("the clock of %s is %s the store's", r.Name, ahead(r.Clock)), "set the clock of its machine by a time server"}
}
