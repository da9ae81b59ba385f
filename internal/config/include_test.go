package config_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/config"
)

// folder writes files to a new folder, makes it the current folder, and returns it. File names are separated by
// slashes.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	t.Chdir(dir)
	for name, text := range files {
		writeFile(t, name, text)
	}
	return dir
}

func writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestInclude combines sections of several files. Each keeps its own positions and folder.
func TestInclude(t *testing.T) {
	dir := folder(t, map[string]string{
		"main.yaml":            "include: [rules/*.yaml, 'more/${LEVEL}.yaml']\nsources: {a: {url: sqlite:a.db}}\nclasses:\n  a.x: {denied: [one]}\n",
		"rules/10.yaml":        "classes: {y: {denied: [two]}}\n",
		"rules/20.yaml":        "include: [deep/last.yaml]\npolicy: {unlisted: visible}\n",
		"rules/.hidden.yaml":   "nonsense",
		"rules/deep/last.yaml": "# comment\npolicy: {refuse_scans: true}\nclasses:\n  b.z:\n    denied: [three]\n    tenant: {field: org}\n",
		"more/warn.yaml":       "sources: {b: {url: 'file:where'}}\nstore: sqlite:kept.db\n",
		"more/where":           "sqlite:deep.db\n",
	})
	t.Setenv("LEVEL", "warn")
	c, err := config.Load(filepath.Join(dir, "main.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(c.Sources[0].URL, " ", c.Sources[1].Name, " ", c.Sources[1].URL, " ", c.Store, " ", slices.Sorted(maps.Keys(c.Rules.Classes)), c.Rules.Unlisted, c.Rules.RefuseScans)
	if want := strings.ReplaceAll("sqlite:DIR/a.db b sqlite:DIR/more/deep.db sqlite:DIR/more/kept.db [a.x b.z y] true true", "DIR", dir); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for _, row := range []struct{ class, key, want string }{
		{"a.x", "", "main.yaml:4"},
		{"a.y", "denied", "rules/10.yaml:1"},
		{"y", "", "rules/10.yaml:1"},
		{"b.z", "", "rules/deep/last.yaml:4"},
		{"b.z", "tenant.field", "rules/deep/last.yaml:6"},
		{"b.z", "visible", "rules/deep/last.yaml:4"},
		{"b.none", "visible", ":0"},
	} {
		file, line := c.PlaceOfRule(row.class, row.key)
		if got := fmt.Sprint(strings.TrimPrefix(file, dir+"/"), ":", line); got != row.want {
			t.Errorf("%s %s: %s, want %s", row.class, row.key, got, row.want)
		}
	}
	if got, want := c.WrongRule("b.z", "tenant.field: no").String(), dir+"/rules/deep/last.yaml:6:14: classes.b.z.tenant.field: no\n    6 |     tenant: {field: org}\n      |              ^"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestIncludeFaults checks the faults in main.yaml and in the files that it includes.
func TestIncludeFaults(t *testing.T) {
	const src = "sources: {s: {url: sqlite:x}}\n"
	many := map[string]string{"main.yaml": "include: [many/*.yaml]\n" + src}
	for i := range 66 {
		many[fmt.Sprintf("many/%02d.yaml", i)] = fmt.Sprintf("classes: {s.c%d: {}}\n", i)
	}
	for _, row := range []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"the same key", map[string]string{"main.yaml": "include: [b.yaml, c.yaml]\n" + src + "listen: 127.0.0.1:1\nclasses: {s.a: {}}\n",
			"b.yaml": "\nclasses: {s.a: {}, s.b: {}}\nsources: {t: {url: sqlite:y}}\n", "c.yaml": "listen: 127.0.0.1:2\nlimits: {burst: 1}\nclasses:\n  s.b: {}\n"}, `
b.yaml:2:11: classes.s.a: the key is in another file too, on line 4 of main.yaml
    2 | classes: {s.a: {}, s.b: {}}
      |           ^
c.yaml:1:1: listen: the key is in another file too, on line 3 of main.yaml
    1 | listen: 127.0.0.1:2
      | ^
c.yaml:4:3: classes.s.b: the key is in another file too, on line 2 of b.yaml
    4 |   s.b: {}
      |   ^`},
		{"one that is no object", map[string]string{"main.yaml": "include: [b.yaml]\n" + src + "results: both\n", "b.yaml": "results: {default: text}\n"}, `
b.yaml:1:1: results: the key is in another file too, on line 3 of main.yaml
    1 | results: {default: text}
      | ^`},
		{"faults of included files", map[string]string{"main.yaml": "include: [b.yaml, c.yaml, d.yaml, e.yaml]\nclasses: {s.a: {visibel: []}}\n", "b.yaml": "clases: {}\nsources: {s: {url: oracle:x}}\n",
			"c.yaml": "", "d.yaml": "- a\n", "e.yaml": "a: ["}, `
main.yaml:2:17: classes.s.a: unknown key "visibel". Did you mean visible?
    2 | classes: {s.a: {visibel: []}}
      |                 ^
b.yaml:1:1: unknown key "clases". Did you mean classes?
    1 | clases: {}
      | ^
b.yaml:2:20: sources.s.url: must begin with sqlite:, postgres://, mariadb://, mongodb:// or parse+https://
    2 | sources: {s: {url: oracle:x}}
      |                    ^
c.yaml: the file says nothing. Take it away or give it a key
d.yaml:1:1: must be an object with the sections of a configuration, not a list
    1 | - a
      | ^
e.yaml:1:4: not valid YAML: sequence end token ']' not found
    1 | a: [
      |    ^`},
		{"files that can't be", map[string]string{"main.yaml": "include: [none.yaml, rules/*.yaml, '[', b.yaml, ., b.yaml]\n" + src, "b.yaml": "include: ./main.yaml\n"}, `
main.yaml:1:52: include.5: is in the list twice
    1 | include: [none.yaml, rules/*.yaml, '[', b.yaml, ., b.yaml]
      |                                                    ^`},
		{"files that aren't there", map[string]string{"main.yaml": "include: [none.yaml, rules/*.yaml, '[', ., ./b.yaml, b.yaml]\n" + src, "b.yaml": "include: [c/c.yaml]\n", "c/c.yaml": "include:\n- ../main.yaml\n- ../b.yaml\n"}, `
main.yaml:1:11: include.0: the file none.yaml can't be read: no such file or directory
    1 | include: [none.yaml, rules/*.yaml, '[', ., ./b.yaml, b.yaml]
      |           ^
main.yaml:1:22: include.1: no file matches rules/*.yaml
    1 | include: [none.yaml, rules/*.yaml, '[', ., ./b.yaml, b.yaml]
      |                      ^
main.yaml:1:36: include.2: [ is not a pattern of file names
    1 | include: [none.yaml, rules/*.yaml, '[', ., ./b.yaml, b.yaml]
      |                                    ^
main.yaml:1:41: include.3: the file . can't be read: it is not an ordinary file
    1 | include: [none.yaml, rules/*.yaml, '[', ., ./b.yaml, b.yaml]
      |                                         ^
main.yaml:1:54: include.5: b.yaml is included already, on line 1 of main.yaml
    1 | include: [none.yaml, rules/*.yaml, '[', ., ./b.yaml, b.yaml]
      |                                                      ^
c/c.yaml:2:3: include.0: leads back to main.yaml, which is being read
    2 | - ../main.yaml
      |   ^
c/c.yaml:3:3: include.1: leads back to b.yaml, which is being read
    3 | - ../b.yaml
      |   ^`},
		{"no list", map[string]string{"main.yaml": "include: b.yaml\n" + src}, `
main.yaml:1:10: include: must be a list of files, not text
    1 | include: b.yaml
      |          ^`},
		{"no value", map[string]string{"main.yaml": "include:\n" + src}, `
main.yaml:1:1: include: has no value. Give it one or leave it out
    1 | include:
      | ^`},
		{"too many", many, `
main.yaml:1:11: include.0: a configuration is made of at most 64 files
    1 | include: [many/*.yaml]
      |           ^`},
		{"a secret is at home in its file", map[string]string{"main.yaml": "include: [b/b.yaml]\n" + src, "b/b.yaml": "store: file:secret\n", "secret": "sqlite:x"}, `
b/b.yaml:1:8: store: the file secret can't be read: no such file or directory
    1 | store: file:secret
      |        ^`},
	} {
		t.Run(row.name, func(t *testing.T) {
			folder(t, row.files)
			_, err := config.Load("main.yaml")
			if got := fmt.Sprint(err); got != strings.TrimPrefix(row.want, "\n") {
				t.Errorf("got\n%s\nwant%s", got, row.want)
			}
		})
	}
}

// TestNow changes each input of a configuration in turn.
func TestNow(t *testing.T) {
	folder(t, map[string]string{"main.yaml": "include: [rules/*.yaml]\nstore: file:store\nsources: {s: {url: sqlite:x}}\n",
		"rules/a.yaml": "classes: {s.a: {}}\n", "store": "sqlite:y"})
	c, err := config.Load("main.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if c.State() != c.Now() || len(c.State()) != 32 {
		t.Errorf("nothing changed: %q, now %q", c.State(), c.Now())
	}
	seen := map[string]string{c.State(): "nothing"}
	for _, row := range []struct {
		what string
		do   func() error
	}{
		{"another file that matches", func() error { return os.WriteFile("rules/b.yaml", nil, 0o600) }},
		{"a changed file", func() error { return os.WriteFile("rules/a.yaml", []byte("classes: {s.b: {}}\n"), 0o600) }},
		{"another secret", func() error { return os.WriteFile("store", []byte("sqlite:z"), 0o600) }},
		{"no file", func() error { return os.Remove("main.yaml") }},
		{"a folder instead", func() error { return os.Mkdir("main.yaml", 0o700) }},
	} {
		if err := row.do(); err != nil {
			t.Fatal(err)
		}
		if before, ok := seen[c.Now()]; ok {
			t.Errorf("%s: the state is that after %s", row.what, before)
		}
		seen[c.Now()] = row.what
	}
	if s := new(config.Config).State() + new(config.Config).Now(); s != "" {
		t.Errorf("of no file: %q", s)
	}
}
