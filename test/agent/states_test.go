package agent

import (
	"strings"
	"testing"
)

// TestStates checks that an answer that a made-up state left empty names the states that it may have meant.
func TestStates(t *testing.T) {
	set, _ := tracker(t)
	for value, want := range map[string]string{
		"open":   "Did you mean Backlog, Todo or InProgress?",
		"closed": "Did you mean Done or Cancelled?",
		"FIXED":  "Did you mean Done?",
		"wip":    "which are Backlog, Todo, InProgress, Review, Done, Cancelled",
		"done":   "Did you mean Done?",
		"Revew":  "Did you mean Review?",
	} {
		res, err := set.Call(t.Context(), reader(), request(t, `count_objects {"class_name":"issues","where":{"status":"`+value+`"}}`))
		if err != nil || !strings.Contains(res.Text, want) {
			t.Errorf("%s: %v, %s; want %s", value, err, res.Text, want)
		}
	}
}

// TestListTools checks that the list of tools teaches how to reach other classes.
func TestListTools(t *testing.T) {
	set, _ := tracker(t)
	res, err := set.Call(t.Context(), reader(), request(t, `list_tools {}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"assignee_id.name", "$inQuery", "$select", "$lookup"} {
		if !strings.Contains(res.Text, word) || !strings.Contains(string(res.Structured), word) {
			t.Errorf("%s isn't in %s", word, res.Text)
		}
	}
}

// TestDocumentedValues checks that documented values come in the type of their field, as conditions take them.
func TestDocumentedValues(t *testing.T) {
	set := tagged(t)
	res, err := set.Call(t.Context(), reader(), request(t, `get_schema {"class_name":"tags"}`))
	for _, want := range []string{`"allowed_values":[{"value":false,"meaning":"in use"},true]`, `"allowed_values":["red","1"]`} {
		if err != nil || !strings.Contains(string(res.Structured), want) {
			t.Errorf("%v, %s; want %s", err, res.Structured, want)
		}
	}
}
