package app

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/internal/health"
)

// unreachable returns a one-sentence error for a source that can't be opened, without its password.
func unreachable(s config.Source, err error) error {
	if path, ok := s.SQLite(); ok {
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("source %s can't be opened: there is no file %s", s.Name, path)
		}
		return err
	}
	why := databaseOf(s).reason(err)
	return fmt.Errorf("source %s can't be reached at %s: %s", s.Name, health.Place(s.URL), strings.TrimPrefix(why, "source "+s.Name+": "))
}
