package metadata

import (
	"errors"
	"io/fs"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/secretnames"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// A reader implements source.ObjectReader.
type reader struct {
	source  *Source
	objects *Objects
}

// Close implements source.ObjectReader.
func (r *reader) Close() error { return r.objects.Folder.Close() }

// ModTime implements source.ObjectReader.
func (r *reader) ModTime(name string) time.Time {
	t, _ := r.objects.Folder.ModTime(r.objects.Files[name])
	return t
}

// Object implements source.ObjectReader. The class has the name of its file, regardless of the content.
func (r *reader) Object(name string) (schema.Class, error) {
	class := schema.Class{Source: r.source.options.Name, Name: name, Table: name, Recordless: true}
	file, ok := r.objects.Files[name]
	if !ok {
		return class, problem.New(problem.NotFound, "the source has no file for this class")
	}
	data, err := r.objects.Folder.Read(file)
	if err != nil {
		return class, &problem.Error{Code: problem.Upstream, Detail: unreadable(err), Err: err}
	}
	fields, err := r.objects.Fields(file, data)
	if err != nil {
		return class, err
	}
	for i := range fields {
		if secretnames.Credential(fields[i].Name) {
			fields[i].Default = "" // the default of such a field might be a secret
		}
	}
	class.Fields = fields
	return class, nil
}

// unreadable returns the reason why a file can't be read, without its path.
func unreadable(err error) string {
	for _, known := range []error{errNotFile, errTooLarge, errChanged} {
		if errors.Is(err, known) {
			return "the file is not read: " + known.Error()
		}
	}
	if errors.Is(err, fs.ErrPermission) {
		return "the file is not read: the system doesn't permit it"
	}
	return "the file can't be read"
}
