package openapi

import (
	"fmt"
	"testing"
)

// TestCollections checks which reviews warn that the collection may contain more records than the call read.
func TestCollections(t *testing.T) {
	const two = `[{"id":1,"status":"old"},{"id":2,"status":"old"}]`
	for _, row := range []struct {
		name  string
		shape shape
		want  string
	}{
		{"a list", shape{call: "DELETE /orders", answer: two}, "2"},
		{"a list of one", shape{call: "DELETE /orders", answer: `[{"id":1}]`}, "1"},
		{"an empty list", shape{call: "DELETE /orders", answer: `[]`}, "0"},
		{"an envelope", shape{call: "DELETE /orders", answer: `{"data":` + two + `,"total":57}`}, "2 of 57"},
		{"by the name of the path", shape{call: "DELETE /orders/", answer: `{"orders":` + two + `}`}, "2"},
		{"two envelopes", shape{call: "DELETE /orders", answer: `{"data":{"orders":` + two + `}}`}, "2"},
		{"a patch of all", shape{call: "PATCH /orders", body: `{"status":"sent"}`, answer: `{"data":` + two + `}`}, "2"},
		{"one record", shape{call: "DELETE /orders/{id}", id: "7", answer: draft}, ""},
		{"a list of one for a record", shape{call: "DELETE /orders/{id}", id: "7", answer: `[` + draft + `]`}, ""},
		{"a record without an id", shape{call: "DELETE /account", answer: `{"name":"a","emails":["x","y"]}`}, ""},
		{"a patch of a record without an id", shape{call: "PATCH /account", body: `{"name":"b"}`, answer: `{"name":"a","emails":["x","y"]}`}, ""},
		{"a POST makes one", shape{call: "POST /orders", body: `{"status":"sent"}`, answer: two}, ""},
	} {
		got := ""
		if listed := row.shape.effect(t).Listed; listed != nil {
			got = fmt.Sprint(listed.Rows)
			if listed.Total != nil {
				got += fmt.Sprint(" of ", *listed.Total)
			}
		}
		if got != row.want {
			t.Errorf("%s: %q, want %q", row.name, got, row.want)
		}
	}
}
