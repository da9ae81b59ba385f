package duckdb

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// readers maps the endings of file names to the functions of DuckDB that read such files.
var readers = map[string]string{
	".parquet": "read_parquet(%s, union_by_name = true, hive_partitioning = %t)",
	".csv":     "read_csv(%s, union_by_name = true, hive_partitioning = %t, sample_size = -1)",
	".tsv":     "read_csv(%s, union_by_name = true, hive_partitioning = %t, sample_size = -1)",
	".json":    "read_json(%s, union_by_name = true, hive_partitioning = %t, sample_size = -1)",
	".ndjson":  "read_json(%s, union_by_name = true, hive_partitioning = %t, sample_size = -1)",
	".jsonl":   "read_json(%s, union_by_name = true, hive_partitioning = %t, sample_size = -1)",
}

// mostFiles is the maximum number of files of a folder that become classes, and of files of one class.
const mostFiles = 10_000

// errLink is the reason why an entry of a folder isn't read. DuckDB opens every file with a matching name. It would
// follow a link out of the folder, and wait at a pipe forever.
var errLink = errors.New("is not a file of this folder but a link, a pipe or another special file, which is not followed")

// place returns the data source name for the driver. For a folder, it finds the folder's files and returns the
// statement that lets DuckDB read them.
func (s *Source) place() (at, allow string, err error) {
	path, err := filepath.Abs(s.options.Path)
	if err != nil {
		return "", "", err
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", "", fmt.Errorf("there is no file or folder %s", s.options.Path)
	case err != nil:
		return "", "", err
	case !info.IsDir():
		return path + "?access_mode=READ_ONLY", "", nil
	}
	// One view for each file, or for each folder of files. Names are compared without regard to case.
	entries, err := os.ReadDir(path)
	if err != nil {
		return "", "", err
	}
	taken := map[string]string{}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		f, from, err := class(path, e)
		if err != nil {
			s.warnings = append(s.warnings, fmt.Sprintf("%s in %s is not a class: %v", e.Name(), s.options.Name, err))
			continue
		}
		if from == "" {
			if mode := e.Type(); !mode.IsRegular() && !mode.IsDir() {
				s.warnings = append(s.warnings, fmt.Sprintf("%s in %s is not a class: it %s", e.Name(), s.options.Name, errLink))
			}
			continue
		}
		name := f.class
		if other := taken[strings.ToLower(name)]; other != "" {
			s.warnings = append(s.warnings, fmt.Sprintf("%s in %s is not a class: %s is the class %q already, and names are compared without case. Rename one of the files", e.Name(), s.options.Name, other, name))
			continue
		}
		taken[strings.ToLower(name)] = e.Name()
		f.view = "CREATE VIEW " + quoted(name, `"`) + " AS SELECT * FROM " + from
		s.files = append(s.files, f)
	}
	if len(s.files) == 0 && len(s.warnings) > 0 {
		return "", "", errors.New(strings.Join(s.warnings, "\n"))
	}
	if len(s.files) == 0 {
		return "", "", fmt.Errorf("%s holds no .parquet, .csv, .tsv, .json, .jsonl or .ndjson file, and no folder of such files", s.options.Path)
	}
	// After external access is disabled, views can read only files of this folder.
	folder := quoted(path+string(filepath.Separator), "'")
	return "", "SET allowed_directories = [" + folder + "]", nil
}

// class returns the class of an entry of a folder, and the FROM item that reads it. The item is "" if the entry is
// not a class. A folder is one class. It contains all files at any depth that have the same ending as the first one.
func class(dir string, e fs.DirEntry) (f files, from string, err error) {
	path := filepath.Join(dir, e.Name())
	ending := filepath.Ext(e.Name())
	if !e.IsDir() {
		reader, ok := readers[strings.ToLower(ending)]
		if !ok || !e.Type().IsRegular() {
			return f, "", nil
		}
		return files{class: strings.TrimSuffix(e.Name(), ending), path: path}, fmt.Sprintf(reader, quoted(exactly(path), "'"), false), nil
	}
	var found []string
	err = filepath.WalkDir(path, func(at string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case at != path && strings.HasPrefix(e.Name(), ".") && e.IsDir():
			return fs.SkipDir
		case e.Type().IsRegular() && readers[filepath.Ext(at)] != "" && !strings.HasPrefix(e.Name(), "."):
			found = append(found, filepath.Ext(at))
		}
		if len(found) > mostFiles {
			return fmt.Errorf("%s holds more than %d files", path, mostFiles)
		}
		return nil
	})
	if err != nil || len(found) == 0 {
		return f, "", err
	}
	slices.Sort(found)
	if found[0] != found[len(found)-1] {
		return f, "", fmt.Errorf("%s holds %s and %s files. A folder is one class, of files of one kind", path, found[0], found[len(found)-1])
	}
	f = files{class: e.Name(), path: path, ending: found[0]}
	return f, fmt.Sprintf(readers[f.ending], quoted(exactly(path)+"/**/*"+f.ending, "'"), true), f.own()
}

// A files contains the files of one class of a folder.
type files struct {
	class  string
	path   string
	ending string // the ending of the files below path, or "" if path is a file
	view   string // the statement that creates the view of the class
}

// ownAll is like own, for a statement of the owner, which can name any class in any way.
func (s *Source) ownAll() error {
	for _, f := range s.files {
		if err := f.own(); err != nil {
			return err
		}
	}
	return nil
}

// own returns an error if DuckDB would open anything except regular files of the folder for the class. Hard links
// count as regular files.
func (f files) own() error {
	return filepath.WalkDir(f.path, func(at string, e fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist): // the file was removed meanwhile, and DuckDB reports an error if it needs it
			return nil
		case err != nil:
			return err
		case at == f.path && f.ending != "" && !e.IsDir(), (at == f.path || strings.HasSuffix(at, f.ending)) && !e.IsDir() && !e.Type().IsRegular():
			return &fs.PathError{Op: "read", Path: at, Err: errLink}
		}
		return nil
	})
}

// own returns an error if a class in a statement would read something other than files of the folder. Files may
// change while the source is open, so each statement calls own before and after it runs.
func (s *Source) own(statement string) error {
	for _, f := range s.files {
		if strings.Contains(statement, quoted(f.class, `"`)) {
			if err := f.own(); err != nil {
				return err
			}
		}
	}
	return nil
}

// exactly returns a pattern that matches only the given path.
func exactly(path string) string {
	return strings.NewReplacer("[", "[[]", "*", "[*]", "?", "[?]").Replace(filepath.ToSlash(path))
}

func quoted(text, by string) string { return by + strings.ReplaceAll(text, by, by+by) + by }
