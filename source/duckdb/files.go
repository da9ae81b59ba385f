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
		name, from, err := class(path, e)
		if err != nil {
			return "", nil, err
		}
		if from == "" {
			continue
		}
		if other := taken[strings.ToLower(name)]; other != "" {
			return "", nil, fmt.Errorf("%s and %s in %s would both be the class %q; rename one of them", other, e.Name(), s.options.Path, name)
		}
		taken[strings.ToLower(name)] = e.Name()
		views = append(views, "CREATE VIEW "+quoted(name, `"`)+" AS SELECT * FROM "+from)
	}
	if len(views) == 0 {
		return "", nil, fmt.Errorf("%s holds no .parquet, .csv, .tsv, .json, .jsonl or .ndjson file, and no folder of such files", s.options.Path)
	}
	// Once external access is turned off, views can read files of this folder alone.
	folder := quoted(path+string(filepath.Separator), "'")
	return "", append([]string{"SET allowed_directories = [" + folder + "]"}, views...), nil
}

// class returns the name of the class that an entry of a folder holds, and the FROM item that reads it; "" if it is none.
// A folder is one class: all the files in it, at any depth, that end as the first of them does.
func class(dir string, e fs.DirEntry) (name, from string, err error) {
	path := filepath.Join(dir, e.Name())
	ending := filepath.Ext(e.Name())
	if !e.IsDir() {
		reader, ok := readers[strings.ToLower(ending)]
		if !ok || !e.Type().IsRegular() {
			return "", "", nil
		}
		return strings.TrimSuffix(e.Name(), ending), fmt.Sprintf(reader, quoted(exactly(path), "'"), false), nil
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
		return "", "", err
	}
	slices.Sort(found)
	if found[0] != found[len(found)-1] {
		return "", "", fmt.Errorf("%s holds %s and %s files; a folder is one class, of files of one kind", path, found[0], found[len(found)-1])
	}
	return e.Name(), fmt.Sprintf(readers[found[0]], quoted(exactly(path)+"/**/*"+found[0], "'"), true), nil
}

// exactly returns a path in which no character is a pattern.
func exactly(path string) string {
	return strings.NewReplacer("[", "[[]", "*", "[*]", "?", "[?]").Replace(filepath.ToSlash(path))
}

func quoted(text, by string) string { return by + strings.ReplaceAll(text, by, by+by) + by }
