package postgres

import (
	"context"
	"io/fs"
	"testing/fstest"
)

// OpenSteps is like Open, with additional migrations after those of the program: file names and SQL.
func OpenSteps(ctx context.Context, url string, more map[string]string) (*Store, error) {
	steps := fstest.MapFS{}
	names, err := fs.Glob(files, "migrations/*.sql")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		text, err := files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		steps[name] = &fstest.MapFile{Data: text}
	}
	for name, text := range more {
		steps["migrations/"+name] = &fstest.MapFile{Data: []byte(text)}
	}
	return openWith(ctx, url, Options{}, steps)
}
