package agentcmd

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/bailiwick-dev/bailiwick/cmd/bailiwick/internal/terminal"
	"github.com/bailiwick-dev/bailiwick/internal/client"
	"github.com/bailiwick-dev/bailiwick/value"
)

// show prints the result of a tool. Records become a table, and other results are printed as text.
func (e *explorer) show(a client.Answer, err error) error {
	if err != nil {
		return err
	}
	if e.raw {
		if a.Structured == nil {
			e.Printf("%s\n", sanitize(a.Text))
			return nil
		}
		e.Printf("%s\n", sanitize(string(a.Structured)))
		return nil
	}
	// Print the text of results that are not a list of records.
	records, more := recordsOf(a.Structured)
	if records == nil {
		e.Printf("%s\n", strings.TrimRight(sanitize(a.Text), "\n"))
		return nil
	}
	columns := columnsOf(records)
	if e.expanded {
		e.printVertical(records, columns)
	} else {
		rows := [][]string{columns}
		for _, r := range records {
			row := make([]string, len(columns))
			for i, c := range columns {
				v, _ := r.Get(c)
				row[i] = cell(v)
			}
			rows = append(rows, row)
		}
		e.Printf("%s", Table(rows))
	}
	text := strconv.Itoa(len(records)) + " records"
	if len(records) == 1 {
		text = "1 record"
	}
	if more {
		text += ", and more"
	}
	e.Printf("%s\n", terminal.Style(terminal.Faint, text))
	return nil
}

// recordsOf returns the records in a result and whether there are more. It returns nil if the result contains no
// records.
func recordsOf(structured json.RawMessage) (records []value.Value, more bool) {
	v, err := value.Read(structured, 200)
	if err != nil {
		return nil, false
	}
	for _, name := range []string{"results", "groups", "objects"} {
		list, ok := v.Get(name)
		if !ok || list.Kind() != value.Array {
			continue
		}
		for _, item := range list.List() {
			if item.Kind() != value.Object {
				return nil, false
			}
			records = append(records, item)
		}
		next, _ := v.Get("has_more")
		return records, string(next.AppendJSON(nil)) == "true"
	}
	return nil, false
}

// columnsOf returns the names of all fields, in order of appearance.
func columnsOf(records []value.Value) []string {
	var all []string
	for _, r := range records {
		for _, m := range r.Members() {
			if !slices.Contains(all, m.Name) {
				all = append(all, m.Name)
			}
		}
	}
	return all
}

func cell(v value.Value) string {
	switch v.Kind() {
	case value.String:
		return v.Text()
	case value.Null:
		return ""
	}
	return string(v.AppendJSON(nil))
}

// printVertical prints each record as a list of its fields, with each field cut to one line. It omits fields that a
// record doesn't have.
func (e *explorer) printVertical(records []value.Value, columns []string) {
	width := 0
	for _, c := range columns {
		width = max(width, len(c))
	}
	for i, r := range records {
		e.Printf("%s\n", terminal.Style(terminal.Bold, "─ record "+strconv.Itoa(i+1)))
		for _, c := range columns {
			if v, ok := r.Get(c); ok {
				e.Printf("%-*s │ %s\n", width, Line(c, 64), Line(cell(v), 400))
			}
		}
	}
}

// A names contains candidates for completion, which are requested at their first use.
type names struct {
	tools, classes, prompts []string
	fields                  map[string][]string // by class
}

// complete returns completions of the word before the cursor. The word is a command, a class, a tool or a prompt, or
// a field within the where object of a class.
func (e *explorer) complete(ctx context.Context, before string) (int, []string) {
	at := strings.LastIndexAny(before, " {,\"") + 1
	word := before[at:]
	first, rest, more := strings.Cut(before, " ")
	var from []string
	switch {
	case !more:
		for _, c := range commands() {
			from = append(from, c.name)
		}
	case strings.ContainsRune(rest, '{') && (first == "q" || first == "count"):
		class, _, _ := strings.Cut(rest, " ")
		from = e.fieldNames(ctx, class)
	case strings.ContainsRune(rest, ' '):
	case first == "q" || first == "count" || first == "schema":
		from = e.classNames(ctx)
	case first == "t":
		from = e.toolNames(ctx)
	case first == "render":
		from = e.promptNames(ctx)
	}
	var fitting []string
	for _, name := range from {
		if strings.HasPrefix(name, word) {
			fitting = append(fitting, name)
		}
	}
	slices.Sort(fitting)
	return at, fitting
}

func (e *explorer) toolNames(ctx context.Context) []string {
	if e.names.tools == nil {
		all, _ := e.client.Tools(ctx) // without a list there are no completions
		for _, t := range all {
			e.names.tools = append(e.names.tools, t.Name)
		}
	}
	return e.names.tools
}

func (e *explorer) promptNames(ctx context.Context) []string {
	if e.names.prompts == nil {
		all, _ := e.client.Prompts(ctx) // without a list there are no completions
		for _, p := range all {
			e.names.prompts = append(e.names.prompts, p.Name)
		}
	}
	return e.names.prompts
}

// classNames returns the classes that get_all_schemas lists. If there are many, it returns prefixes of their names.
// It calls the tool once. If the call fails it returns nil, and the next completion calls again.
func (e *explorer) classNames(ctx context.Context) []string {
	if e.names.classes == nil {
		var doc struct {
			Classes []named                   `json:"classes"`
			Groups  []struct{ Prefix string } `json:"groups"`
		}
		e.read(ctx, "get_all_schemas", map[string]string{}, &doc)
		e.names.classes = namesOf(doc.Classes)
		for _, g := range doc.Groups {
			e.names.classes = append(e.names.classes, g.Prefix)
		}
	}
	return e.names.classes
}

// fieldNames returns the fields of a class that get_schema lists. It calls the tool in the same way as classNames.
func (e *explorer) fieldNames(ctx context.Context, class string) []string {
	if e.names.fields == nil {
		e.names.fields = map[string][]string{}
	}
	if len(e.names.fields[class]) == 0 {
		var doc struct {
			Fields []named `json:"fields"`
		}
		e.read(ctx, "get_schema", map[string]string{"class_name": class}, &doc)
		e.names.fields[class] = namesOf(doc.Fields)
	}
	return e.names.fields[class]
}

// read calls a tool for a completion and decodes its structured result into doc. It leaves doc unchanged if the call
// fails.
func (e *explorer) read(ctx context.Context, tool string, arguments map[string]string, doc any) {
	in, _ := json.Marshal(arguments) // can't fail for strings
	if a, err := e.client.Call(ctx, tool, in); err == nil {
		_ = json.Unmarshal(a.Structured, doc) // without a list there are no completions
	}
}

// A named is an element with a name in a structured result.
type named struct{ Name string }

func namesOf(list []named) []string {
	var all []string
	for _, n := range list {
		all = append(all, n.Name)
	}
	return all
}
