package operate

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// A table contains the keys and values of a TOML table. Values are texts, lists of texts, and maps of texts.
type table [][2]any

func decodeTOML(text []byte) (any, error) {
	v := map[string]any{}
	if toml.Unmarshal(text, &v) != nil {
		return nil, errors.New("it is not TOML: mend it, or use --print")
	}
	return v, nil
}

// setTable replaces the table at path and its sub-tables, or appends the table. The rest of the text stays unchanged.
// It doesn't recognise a table that is not written as [path]. The caller therefore compares the old and the new text.
func setTable(text []byte, path []string, t table) []byte {
	var kept []string
	skip, at := false, -1
	for line := range strings.Lines(string(text)) {
		if begun, header := strings.CutPrefix(strings.TrimSpace(line), "["); header {
			name, _, _ := strings.Cut(strings.TrimPrefix(begun, "["), "]")
			keys := strings.Split(name, ".")
			for i, k := range keys {
				keys[i] = strings.Trim(strings.TrimSpace(k), `"'`)
			}
			skip = len(keys) >= len(path) && slices.Equal(keys[:len(path)], path)
			if skip && at < 0 {
				at = len(kept)
			}
		}
		if !skip {
			kept = append(kept, line)
		}
	}
	written := t.write(path)
	if at < 0 {
		if before := strings.TrimRight(strings.Join(kept, ""), "\n"); before != "" {
			return []byte(before + "\n\n" + written)
		}
		return []byte(written)
	}
	if at < len(kept) {
		written += "\n"
	}
	return []byte(strings.Join(slices.Insert(kept, at, written), ""))
}

// write returns the table as TOML with the header path. It omits a nil map.
func (t table) write(path []string) string {
	var b strings.Builder
	keys := make([]string, len(path))
	for i, k := range path {
		keys[i] = tomlKey(k)
	}
	b.WriteString("[" + strings.Join(keys, ".") + "]\n")
	for _, pair := range t {
		switch v := pair[1].(type) {
		case string:
			b.WriteString(pair[0].(string) + " = " + quoteTOML(v) + "\n")
		case []string:
			all := make([]string, len(v))
			for i, x := range v {
				all[i] = quoteTOML(x)
			}
			b.WriteString(pair[0].(string) + " = [" + strings.Join(all, ", ") + "]\n")
		case map[string]string:
			if v == nil {
				continue
			}
			var all []string
			for _, k := range slices.Sorted(maps.Keys(v)) {
				all = append(all, quoteTOML(k)+" = "+quoteTOML(v[k]))
			}
			b.WriteString(pair[0].(string) + " = { " + strings.Join(all, ", ") + " }\n")
		}
	}
	return b.String()
}

// quoteTOML returns a TOML string. TOML and JSON use the same escapes here.
func quoteTOML(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(s) != nil {
		return `""`
	}
	return strings.TrimSpace(b.String())
}

// tomlKey returns a key, quoted if necessary.
func tomlKey(key string) string {
	for _, r := range key {
		if r != '-' && r != '_' && (r < '0' || r > '9') && (r|0x20 < 'a' || r|0x20 > 'z') {
			return quoteTOML(key)
		}
	}
	return key
}
