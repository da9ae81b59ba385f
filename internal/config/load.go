package config

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/bailiwick-dev/bailiwick/internal/yamlconf"
)

// Load reads and checks the file at path and the files it includes, with the process environment. Invalid contents are
// reported in an *Error.
func Load(path string) (*Config, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("config: %w", err)
	}
	defer f.Close() //nolint:errcheck // it was only read
	data, err := io.ReadAll(io.LimitReader(f, yamlconf.MaxFile+1))
	if err != nil {
		return nil, fmt.Errorf("config: %w", err)
	}
	c, err := Parse(path, data, os.LookupEnv)
	if c != nil {
		c.file = path
	}
	return c, err
}

// Parse reads and checks the configuration in data. name is the file's path. It is the start of each fault. Relative
// paths in the configuration begin at the folder of that file. Relative paths in an included file begin at the
// included file's folder. env looks up an environment variable. Faults are reported in an *Error.
func Parse(name string, data []byte, env func(string) (string, bool)) (*Config, error) {
	return parse(name, data, yamlconf.Options{Env: env})
}

// ParseFiles is Parse for a configuration of several files that aren't written yet. included contains the included files by
// name, beside the first.
func ParseFiles(name string, data []byte, included map[string]string, env func(string) (string, bool)) (*Config, error) {
	return parse(name, data, yamlconf.Options{Env: env, File: func(path string) ([]byte, error) {
		text, ok := included[filepath.Base(path)]
		if !ok {
			return nil, fs.ErrNotExist
		}
		return []byte(text), nil
	}})
}

func parse(name string, data []byte, o yamlconf.Options) (*Config, error) {
	c := &Config{}
	o.Include = "include"
	document, err := yamlconf.Read(name, data, c.shape(), o)
	if err != nil {
		return nil, err
	}
	c.document, c.Rules.Version = document, c.version()
	for _, path := range document.WritableByOthers() {
		c.Notes = append(c.Notes, fmt.Sprintf("every user of this machine can write %s: chmod o-w %[1]s", path))
	}
	return c, nil
}
