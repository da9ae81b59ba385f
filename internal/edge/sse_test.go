package edge_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/edge"
)

func TestRead(t *testing.T) {
	const stream = ": a comment\r\nevent: one\r\ndata: a\r\ndata:b\r\nid: 7\r\n\r\nevent: nothing\n\n\ndata\n\ndata: {\"x\": \"y: z\"}\n\ndata: cut"
	var got []string
	if err := edge.ReadEvents(strings.NewReader(stream), 1000, func(e edge.Event) error {
		got = append(got, e.Name+"="+string(e.Data))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if want := "one=a\nb|={\"x\": \"y: z\"}|=cut"; strings.Join(got, "|") != want {
		t.Errorf("%q, want %q", strings.Join(got, "|"), want)
	}
	if err := edge.ReadEvents(strings.NewReader("data: 1234567890\ndata: 1234567890\n\n"), 18, func(edge.Event) error { return nil }); err == nil {
		t.Error("an event larger than allowed was read")
	}
	enough := errors.New("enough")
	if err := edge.ReadEvents(strings.NewReader("data: 1\n\ndata: 2\n\n"), 18, func(edge.Event) error { return enough }); !errors.Is(err, enough) {
		t.Error(err)
	}
}
