package operate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/bailiwick-dev/bailiwick/internal/edge"
)

// Edit returns the text of a configuration file with the entry for s added or replaced. An empty text creates a new
// file. replaced is true if an entry with this name existed. Edit fails if it can't parse the text or can't edit it
// without other changes. The error never quotes the text, because it may contain secrets.
func (c *ConfiguredClient) Edit(text []byte, s Server) (out []byte, replaced bool, err error) {
	was, err := c.decode(text)
	if err != nil {
		return nil, false, err
	}
	var now any
	if s.URL != "" {
		if c.OnlyPrograms {
			return nil, false, fmt.Errorf("%s can't be given a URL: have it start the program", c.Name)
		}
		now = c.remote(s)
	} else {
		now = c.local(s)
	}
	servers, _ := lookup(was, c.at).(map[string]any)
	_, replaced = servers[s.Name]
	if c.toml {
		out = setTable(text, append(slices.Clone(c.at), s.Name), now.(table))
	} else if out, err = setMember(text, append(slices.Clone(c.at), s.Name), now); err != nil {
		return nil, false, err
	}
	return out, replaced, c.same(was, out, s.Name)
}

// EditProject is like Edit for a project's file. Other people read that file, so it must not contain the token of s.
// It refers to edge.InstallVariable, or asks the user for the token.
func (c *ConfiguredClient) EditProject(text []byte, s Server) (out []byte, replaced bool, err error) {
	if s.Token != "" {
		s.Token = c.variable
	}
	out, replaced, err = c.Edit(text, s)
	if err == nil && c.inputs && s.Token != "" {
		out, err = ask(out)
	}
	return out, replaced, err
}

// same checks that out differs from the original file only in the named entry. was is the decoded original.
func (c *ConfiguredClient) same(was any, out []byte, name string) error {
	is, err := c.decode(out)
	if err == nil {
		servers, _ := lookup(is, c.at).(map[string]any)
		old, _ := lookup(was, c.at).(map[string]any)
		if _, there := servers[name]; there {
			delete(servers, name)
			delete(old, name)
			if len(servers) == 0 && old == nil {
				trim(is, c.at)
			}
			if reflect.DeepEqual(was, is) {
				return nil
			}
		}
	}
	return errors.New("the entry can't be set there without changing something else. Use --print and set it by hand")
}

// trim removes the object at path from v. It is called for an empty object that the edit has added.
func trim(v any, path []string) {
	if m, ok := lookup(v, path[:len(path)-1]).(map[string]any); ok {
		delete(m, path[len(path)-1])
	}
}

// decode decodes a configuration file. An empty text is an empty object.
func (c *ConfiguredClient) decode(text []byte) (any, error) {
	v := map[string]any{}
	if c.toml {
		return decodeTOML(text)
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return v, nil
	}
	plain, err := hujson.Standardize(bytes.Clone(text))
	if err != nil || json.Unmarshal(plain, &v) != nil {
		return nil, errors.New("it is not a JSON object (comments and trailing commas are fine): mend it, or use --print")
	}
	for at := range c.at {
		if _, ok := lookup(v, c.at[:at+1]).(map[string]any); !ok && lookup(v, c.at[:at+1]) != nil {
			return nil, fmt.Errorf("its %q is not an object: mend it, or use --print", strings.Join(c.at[:at+1], "."))
		}
	}
	return v, nil
}

func lookup(v any, path []string) any {
	for _, name := range path {
		m, _ := v.(map[string]any)
		v = m[name]
	}
	return v
}

// setMember sets the member at path of a JSON object to v and creates missing parent objects. The rest of the text
// stays unchanged.
func setMember(text []byte, path []string, v any) ([]byte, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte("{}\n")
	}
	root, err := hujson.Parse(bytes.Clone(text))
	if err != nil {
		return nil, err
	}
	at := &root
	for i, name := range path {
		object := at.Value.(*hujson.Object)
		m := slices.IndexFunc(object.Members, func(m hujson.ObjectMember) bool { return hasName(m, name) })
		if m >= 0 && i < len(path)-1 {
			at = &object.Members[m].Value
			continue
		}
		unit, depth := indentation(&root), i+1
		for _, name := range slices.Backward(path[i+1:]) {
			v = map[string]any{name: v}
		}
		written, err := marshalIndent(v, strings.Repeat(unit, depth), unit)
		if err != nil {
			return nil, err
		}
		if m >= 0 {
			old := object.Members[m].Value
			return slices.Concat(text[:old.StartOffset], written, text[old.EndOffset:]), nil
		}
		key, _ := json.Marshal(name)
		return insert(text, at.StartOffset, len(object.Members) > 0, slices.Concat([]byte(strings.Repeat(unit, depth)), key, []byte(": "), written), strings.Repeat(unit, depth-1)), nil
	}
	return text, nil
}

func hasName(m hujson.ObjectMember, name string) bool {
	l, ok := m.Name.Value.(hujson.Literal)
	return ok && l.String() == name
}

// insert adds a part as the first element of the object or array that begins at the offset open. before is the
// indentation of its end.
func insert(text []byte, open int, more bool, part []byte, before string) []byte {
	after := []byte("\n" + before)
	if more {
		after = []byte(",")
	}
	return slices.Concat(text[:open+1], []byte("\n"), part, after, text[open+1:])
}

// indentation returns the indentation of the root object's members. The default is two spaces.
func indentation(root *hujson.Value) string {
	if object, ok := root.Value.(*hujson.Object); ok && len(object.Members) > 0 {
		before := string(object.Members[0].Name.BeforeExtra)
		if i := strings.LastIndexByte(before, '\n'); i >= 0 && strings.Trim(before[i+1:], " \t") == "" && i+1 < len(before) {
			return before[i+1:]
		}
	}
	return "  "
}

func marshalIndent(v any, prefix, unit string) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent(prefix, unit)
	err := e.Encode(v)
	return bytes.TrimSpace(b.Bytes()), err
}

// ask adds an input that asks for the token, unless the input exists.
func ask(text []byte) ([]byte, error) {
	root, err := hujson.Parse(bytes.Clone(text))
	if err != nil {
		return nil, err
	}
	input := edge.InstallInput()
	list := root.Find("/inputs")
	if list == nil {
		return setMember(text, []string{"inputs"}, []any{input})
	}
	array, ok := list.Value.(*hujson.Array)
	if !ok {
		return nil, errors.New(`its "inputs" is not a list: mend it, or use --print`)
	}
	if bytes.Contains(list.Pack(), []byte(`"`+edge.InstallInputID+`"`)) {
		return text, nil
	}
	unit := indentation(&root)
	written, err := marshalIndent(input, strings.Repeat(unit, 2), unit)
	if err != nil {
		return nil, err
	}
	return insert(text, list.StartOffset, len(array.Elements) > 0, append([]byte(strings.Repeat(unit, 2)), written...), unit), nil
}
