package app

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/archive"
	"github.com/bailiwick-dev/bailiwick/internal/config"
)

// ErrNoArchive means that neither a command nor the configuration names a folder for the archive of the audit.
var ErrNoArchive = errors.New("name the folder of the archive: --to FOLDER, or audit.archive.folder in the configuration")

// MoveOld moves the records older than before to files in folder, or in that of the configuration for "".
func (k *Keep) MoveOld(ctx context.Context, before time.Time, folder string) (moved archive.Moved, err error) {
	err = k.open(ctx, func(s Store, c *config.Config) (err error) {
		o := archive.Options{Dir: cmp.Or(folder, c.Audit.Archive.Folder), Before: before, By: identity.Local(LocalUser()).ID}
		if o.Dir == "" {
			return ErrNoArchive
		}
		moved, err = archive.Move(ctx, s, o)
		return err
	})
	return moved, err
}
