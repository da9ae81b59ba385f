package spec

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// TestTable checks the classes that init writes for operations of well-known APIs. At least 99 % must equal the
// labels that people chose, and no dangerous operation may be a read. The columns are: label | method and path | id |
// tags | summary | statuses, and for some rows: | names at the top of the body.
func TestTable(t *testing.T) { checkTable(t, "testdata/operations.txt", 1900, 99) }

// TestDangers checks the same for operations that remove something, admit somebody or return a secret. It includes
// harmless operations with similar names.
func TestDangers(t *testing.T) { checkTable(t, "testdata/dangers.txt", 325, 99) }

// checkTable checks a file of labelled operations. The file must have at least least rows, and the class must equal
// the label in at least percent of them. No read may have another label.
func checkTable(t *testing.T, file string, least, percent int) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	rows, right := 0, 0
	for line := range strings.Lines(string(b)) {
		f := strings.Split(strings.TrimRight(line, "\n"), " | ")
		if strings.HasPrefix(line, "#") || len(f) < 6 {
			continue
		}
		rows++
		got := label(t, f)
		if got == f[0] {
			right++
			continue
		}
		t.Logf("%s %s is %s, labelled %s", f[1], f[2], got, f[0])
		if got == "read" {
			t.Errorf("%s %s is a read, labelled %s", f[1], f[2], f[0])
		}
	}
	t.Logf("%d of %d as labelled", right, rows)
	if rows < least || right*100 < rows*percent {
		t.Errorf("%d of %d are as labelled", right, rows)
	}
}

// label returns the class that init writes for the operation of a row.
func label(t *testing.T, f []string) string {
	t.Helper()
	method, path, _ := strings.Cut(f[1], " ")
	op := map[string]any{"summary": f[4], "responses": map[string]any{}}
	if f[2] != "" {
		op["operationId"] = f[2]
	}
	if f[3] != "" {
		op["tags"] = strings.Split(f[3], ",")
	}
	for status := range strings.FieldsSeq(f[5]) {
		op["responses"].(map[string]any)[status] = map[string]any{"description": ""}
	}
	if len(f) > 7 {
		op["description"] = f[7]
	}
	if len(f) > 6 && strings.TrimSpace(f[6]) != "" {
		properties := map[string]any{}
		for name := range strings.FieldsSeq(f[6]) {
			properties[name] = map[string]any{}
		}
		op["requestBody"] = map[string]any{"content": map[string]any{"application/json": map[string]any{"schema": map[string]any{"type": "object", "properties": properties}}}}
	}
	text, err := json.Marshal(map[string]any{"openapi": "3.0.0", "paths": map[string]any{path: map[string]any{strings.ToLower(method): op}}})
	if err != nil {
		t.Fatal(err)
	}
	d, err := Load(text)
	if err != nil || len(d.Operations) != 1 {
		t.Fatalf("%s: %v %v", f[1], err, d.Warnings)
	}
	rules, err := NewClassifier(d, ClassOptions{RPCNames: service.MatchString(f[2])})
	if err != nil {
		t.Fatal(err)
	}
	class := rules.Of(d.Operations[0]).Class
	switch SuspicionOf(d, d.Operations[0], class) {
	case "":
		return class.String()
	case SuspectShows:
		return "excluded"
	}
	return "forbidden"
}
