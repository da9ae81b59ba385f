package explore

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/bailiwick-dev/bailiwick/cmd/bailiwick/internal/screen"
	"github.com/bailiwick-dev/bailiwick/internal/client"
	"github.com/bailiwick-dev/bailiwick/internal/terminal"
	"github.com/bailiwick-dev/bailiwick/value"
)

// show prints a tool's result: records as a table, anything else as text.
func (e *explorer) show(a client.Answer, err error) error {
	if err != nil {
		return err
	}
	if e.raw {
		if a.Structured == nil {
			e.Printf("%s\n", screen.Sanitize(a.Text))
			return nil
		}
		e.Printf("%s\n", screen.Sanitize(string(a.Structured)))
		return nil
	}
	// Anything but a list of records is shown as its text.
	records, more := recordsOf(a.Structured)
	if records == nil {
		e.Printf("%s\n", strings.TrimRight(screen.Sanitize(a.Text), "\n"))
		return nil
	}
	columns := columnsOf(records)
	if e.expanded {
		e.printExpanded(records, columns)
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
		e.Printf("%s", screen.Table(rows))
	}
	text := strconv.Itoa(len(records)) + " records"
	if len(records) == 1 {
		text = "1 record"
	}
	if more {
		text += ", and more"
	}
	e.Printf("%s\n", terminal.Styled(terminal.Faint, text))
	return nil
}

// recordsOf returns the records in a result, nil if it has none, and whether there are more.
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

// printExpanded prints each record as a list of its fields, cut to a line each; fields that it lacks are left out.
func (e *explorer) printExpanded(records []value.Value, columns []string) {
	width := 0
	for _, c := range columns {
		width = max(width, len(c))
	}
	for i, r := range records {
		e.Printf("%s\n", terminal.Styled(terminal.Bold, "─ record "+strconv.Itoa(i+1)))
		for _, c := range columns {
			if v, ok := r.Get(c); ok {
				e.Printf("%-*s │ %s\n", width, screen.Line(c, 64), screen.Line(cell(v), 400))
			}
		}
	}
}

// names are candidates for completion, requested on first use.
type names struct {
	tools, classes, prompts []string
	fields                  map[string][]string // by class
}

// complete returns completions of the word before the cursor: a command, a class, a tool, a prompt, or, within the
// where of a class, a field.
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
		all, _ := e.client.Prompts(ctx) // the same
		for _, p := range all {
			e.names.prompts = append(e.names.prompts, p.Name)
		}
	}
	return e.names.prompts
}

// classNames reads the names at the start of each line of get_all_schemas.
func (e *explorer) classNames(ctx context.Context) []string {
	if e.names.classes == nil {
		a, _ := e.client.Call(ctx, "get_all_schemas", json.RawMessage(`{}`)) // the same
		e.names.classes = lineNames(a.Text)
	}
	return e.names.classes
}

// fieldNames returns the fields of a class for completion, as get_schema lists them, asked for once; none if the call fails.
func (e *explorer) fieldNames(ctx context.Context, class string) []string {
	if e.names.fields == nil {
		e.names.fields = map[string][]string{}
	}
	if _, ok := e.names.fields[class]; !ok {
		arguments, _ := json.Marshal(map[string]string{"class_name": class}) // can't fail for a string
		a, _ := e.client.Call(ctx, "get_schema", arguments)                  // without a schema there are no completions
		all := lineNames(a.Text)
		e.names.fields[class] = all[min(1, len(all)):]
	}
	return e.names.fields[class]
}

// lineNames returns the word before the colon of each line that has one.
func lineNames(text string) []string {
	var all []string
	for line := range strings.Lines(text) {
		if name, _, ok := strings.Cut(line, ": "); ok && !strings.Contains(name, " ") {
			all = append(all, name)
		}
	}
	return all
}
