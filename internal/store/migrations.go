package store

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

// ErrNewer is the error that Migrate wraps for a store of a newer program, or of a build before 0.1.0, whose versions
// were higher.
var ErrNewer = errors.New("a newer Bailiwick made it, or a build before 0.1.0. Use that one, or another store")

// A MigrationTarget is an open transaction on a store. No other process migrates the store until it ends.
type MigrationTarget interface {
	Version() (int, error)              // 0 for a new store
	Run(statement string) error         // runs one statement of a migration
	SetVersion(version int) (err error) // records that a migration has run
}

// Migrate runs the migrations that t lacks, in order. They are the files migrations/00001_name.sql and so on. Each
// paragraph of a file is a statement.
func Migrate(files fs.FS, t MigrationTarget) error {
	steps, err := read(files)
	if err != nil {
		return err
	}
	now, err := t.Version()
	switch {
	case err != nil:
		return err
	case now > len(steps):
		return ErrNewer
	}
	for i, statements := range steps[now:] {
		version := now + i + 1
		for _, text := range statements {
			if err := t.Run(text); err != nil {
				return fmt.Errorf("migration %d: %w", version, err)
			}
		}
		if err := t.SetVersion(version); err != nil {
			return fmt.Errorf("migration %d: %w", version, err)
		}
	}
	return nil
}

// NewestVersion returns the version to which Migrate updates a store.
func NewestVersion(files fs.FS) (int, error) {
	steps, err := read(files)
	return len(steps), err
}

// read returns the statements of each migration.
func read(files fs.FS) ([][]string, error) {
	names, err := fs.Glob(files, "migrations/*.sql")
	if err != nil {
		return nil, err
	}
	var out [][]string
	for _, name := range names { // in lexical order
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		number, _, _ := strings.Cut(strings.TrimPrefix(name, "migrations/"), "_")
		if version, err := strconv.Atoi(number); err != nil || version != len(out)+1 {
			return nil, fmt.Errorf("%s: the number must be %d", name, len(out)+1)
		}
		var statements []string
		for p := range strings.SplitSeq(string(text), "\n\n") {
			if !comment(p) {
				statements = append(statements, p)
			}
		}
		out = append(out, statements)
	}
	return out, nil
}

// comment reports whether a paragraph consists of comments only.
func comment(paragraph string) bool {
	for line := range strings.Lines(paragraph) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "--") {
			return false
		}
	}
	return true
}
