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

// readers are the functions of DuckDB that read files, by the ending of their names.
var readers = map[string]string{
	".parquet": "read_parquet(%s, union_by_name = true, hive_partitioning = %t)",
	".csv":     "read_csv(%s, union_by_name = true, hive_partitioning = %t, sample_size = -1)",
	".tsv":     "read_csv(%s, union_by_name = true, hive_partitioning = %t, sample_size = -1)",
	".json":    "read_json(%s, union_by_name = true, hive_partitioning = %t, sample_size = -1)",
	".ndjson":  "read_json(%s, union_by_name = true, hive_partitioning = %t, sample_size = -1)",
	".jsonl":   "read_json(%s, union_by_name = true, hive_partitioning = %t, sample_size = -1)",
}

// mostFiles bounds how many files of a folder become classes, or one of them.
const mostFiles = 10_000

// errLink says why an entry of a folder isn't read. DuckDB opens what it finds by name: it would follow a link out of the folder, and wait
// at a pipe for ever.
var errLink = errors.New("is not a file of this folder but a link, a pipe or another special file, which is not followed")

// place returns the data source name for the driver, and the statements that make views over the files of a folder.
func (s *Source) place() (at string, views []string, err error) {
	path, err := filepath.Abs(s.options.Path)
	if err != nil {
		return "", nil, err
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil, fmt.Errorf("there is no file or folder %s", s.options.Path)
	case err != nil:
		return "", nil, err
	case !info.IsDir():
		return path + "?access_mode=READ_ONLY", nil, nil
	}
	// One view for each file or folder of files; names are compared without case.
	entries, err := os.ReadDir(path)
	if err != nil {
		return "", nil, err
	}
	taken := map[string]string{}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		f, from, err := class(path, e)
		if err != nil {
			return "", nil, err
		}
		if from == "" {
			if mode := e.Type(); !mode.IsRegular() && !mode.IsDir() {
				s.warnings = append(s.warnings, fmt.Sprintf("%s in %s is no class: it %s", e.Name(), s.options.Name, errLink))
			}
			continue
		}
		name := f.class
		if other := taken[strings.ToLower(name)]; other != "" {
			return "", nil, fmt.Errorf("%s and %s in %s would both be the class %q; rename one of them", other, e.Name(), s.options.Path, name)
		}
		taken[strings.ToLower(name)] = e.Name()
		s.files = append(s.files, f)
		views = append(views, "CREATE VIEW "+quoted(name, `"`)+" AS SELECT * FROM "+from)
	}
	if len(views) == 0 {
		return "", nil, fmt.Errorf("%s holds no .parquet, .csv, .tsv, .json, .jsonl or .ndjson file, and no folder of such files", s.options.Path)
	}
	// Once external access is turned off, views can read files of this folder alone.
	folder := quoted(path+string(filepath.Separator), "'")
	return "", append([]string{"SET allowed_directories = [" + folder + "]"}, views...), nil
}

// class returns the class that an entry of a folder holds, and the FROM item that reads it; "" if it is none.
// A folder is one class: all the files in it, at any depth, that end as the first of them does.
func class(dir string, e fs.DirEntry) (f files, from string, err error) {
	path := filepath.Join(dir, e.Name())
	ending := filepath.Ext(e.Name())
	if !e.IsDir() {
		reader, ok := readers[strings.ToLower(ending)]
		if !ok || !e.Type().IsRegular() {
			return f, "", nil
		}
		return files{strings.TrimSuffix(e.Name(), ending), path, ""}, fmt.Sprintf(reader, quoted(exactly(path), "'"), false), nil
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
		return f, "", fmt.Errorf("%s holds %s and %s files; a folder is one class, of files of one kind", path, found[0], found[len(found)-1])
	}
	f = files{e.Name(), path, found[0]}
	return f, fmt.Sprintf(readers[f.ending], quoted(exactly(path)+"/**/*"+f.ending, "'"), true), f.own()
}

// files are what one class of a folder reads.
type files struct {
	class  string
	path   string
	ending string // of the files below path; "" if path is the file
}

// own returns an error if what DuckDB would open for the class isn't all files of the folder itself. Hard links are files as any other.
func (f files) own() error {
	return filepath.WalkDir(f.path, func(at string, e fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist): // it has gone meanwhile, and DuckDB says so if it misses it
			return nil
		case err != nil:
			return err
		case at == f.path && f.ending != "" && !e.IsDir(), (at == f.path || strings.HasSuffix(at, f.ending)) && !e.IsDir() && !e.Type().IsRegular():
			return &fs.PathError{Op: "read", Path: at, Err: errLink}
		}
		return nil
	})
}

// own returns an error if a class that a statement names reads what isn't a file of the folder. Files come and go while the source is
// open, so each statement asks before it runs, and after.
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

// exactly returns a path in which no character is a pattern.
func exactly(path string) string {
	return strings.NewReplacer("[", "[[]", "*", "[*]", "?", "[?]").Replace(filepath.ToSlash(path))
}

func quoted(text, by string) string { return by + strings.ReplaceAll(text, by, by+by) + by }
