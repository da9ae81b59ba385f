package write_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

func doc(t testing.TB, text string) value.Value {
	t.Helper()
	v, err := value.Read([]byte(text), 0)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestParse checks that each kind of write is parsed and printed, and that errors have the right place.
func TestParse(t *testing.T) {
	for _, tt := range []struct{ text, want string }{ // "" means want equals text
		{`{"op":"create","class":"issues","data":{"n":9007199254740993}}`, ""},
		{`{"op":"update","class":"issues","id":"1","data":{}}`, ""},
		{`{"op":"delete","class":"issues","id":"[\"a\",\"1\"]"}`, ""},
		{`{"op":"action","class":"issues","name":"close","id":"1","input":{"a":1},"source":"app"}`, ""},
		{`{"op":"action","class":"issues","name":"close"}`, `{"op":"action","class":"issues","name":"close","id":"","input":null,"source":""}`},
		{`{"op":"call","source":"api","operation":"get_x","request":{}}`, ""},
		{`{"op":"call","source":"api","operation":"set_x","request":{"body":1},"sends":{"method":"PUT"}}`, ""},
		{`{"op":"create_class","source":"app","class":"x","fields":[]}`, ""},
		{`{"op":"create_class","class":"x","fields":[]}`, `{"op":"create_class","source":"","class":"x","fields":[]}`},
		{`{"op":"add_fields","class":"x","fields":[]}`, ""},
		{`{"op":"add_fields","class":"x"}`, "/w/fields: add_fields needs fields"},
		{`{"op":"delete_class","class":"x"}`, ""},

		{`[]`, "/w: a write is an object with op"},
		{`{}`, "/w/op: must be one of create, update, delete, action, call, create_class, add_fields, delete_class"},
		{`{"op":"updat"}`, "/w/op: must be one of create, update, delete, action, call, create_class, add_fields, delete_class. Did you mean update?"},
		{`{"op":1}`, "/w/op: must be one of create, update, delete, action, call, create_class, add_fields, delete_class"},
		{`{"op":"delete","class":"x"}`, "/w/id: delete needs id"},
		{`{"op":"delete","class":"","id":"1"}`, "/w/class: must be a text that isn't empty"},
		{`{"op":"delete","class":"x","id":1}`, "/w/id: must be a text that isn't empty"},
		{`{"op":"action","class":"x","name":"y","id":1}`, "/w/id: must be a text that isn't empty"},
		{`{"op":"create","class":"x","data":[]}`, "/w/data: must be an object"},
		{`{"op":"action","class":"x","name":"y","input":1}`, "/w/input: must be an object"},
		{`{"op":"create_class","class":"x","fields":{}}`, "/w/fields: must be a list"},
		{`{"op":"delete","class":"x","id":"1","auto_approve":true}`, `/w/auto_approve: delete has no "auto_approve"`},
		{`{"op":"delete","clas":"x","class":"x","id":"1"}`, `/w/clas: delete has no "clas". Did you mean class?`},
	} {
		w, err := write.Parse(doc(t, tt.text), "/w")
		got, want := "", tt.want
		if err != nil {
			got = problem.Of(err).Pointer + ": " + problem.Of(err).Detail
		} else {
			got = write.Print(w).String()
		}
		if want == "" {
			want = tt.text
		}
		if got != want {
			t.Errorf("%s\n got %s\nwant %s", tt.text, got, want)
		}
	}
}

// TestKinds checks the op and the target of each write.
func TestKinds(t *testing.T) {
	for _, tt := range []struct {
		w    write.Write
		want string
	}{
		{&write.Create{Class: "a"}, "create a"}, {&write.Update{Class: "a"}, "update a"}, {&write.Delete{Class: "a"}, "delete a"}, {&write.Action{Class: "a", Name: "b"}, "action b"},
		{&write.Call{Source: "a", Operation: "b"}, "call b"}, {&write.CreateClass{Class: "a"}, "schema a"}, {&write.AddFields{Class: "a"}, "schema a"}, {&write.DeleteClass{Class: "a"}, "schema a"},
	} {
		if got := string(tt.w.Op()) + " " + tt.w.Target(); got != tt.want {
			t.Errorf("%s, want %s", got, tt.want)
		}
	}
}

// TestCanonical checks the order of RFC 8785, with exact numbers.
func TestCanonical(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{`{"b": 1, "a": [3, {"z": null, "y": true}], "": "x"}`, `{"":"x","a":[3,{"y":true,"z":null}],"b":1}`},
		// By UTF-16 code units, U+1F600 (D83D DE00) sorts before U+FB33. By bytes it sorts after it.
		{`{"\ufb33": 1, "😀": 2, "ö": 3, "€": 4}`, `{"ö":3,"€":4,"😀":2,"` + "\ufb33" + `":1}`},
		{`[1.50, 9007199254740993, -0.0, "\u0007\"é"]`, `[1.50,9007199254740993,-0.0,"\u0007\"é"]`},
	} {
		if got := string(write.AppendCanonical(nil, doc(t, tt.text))); got != tt.want {
			t.Errorf("%s, want %s", got, tt.want)
		}
	}
}

// FuzzParse checks that a parsed write stays the same after it is printed and parsed again. It also checks that
// canonical JSON has the same value.
func FuzzParse(f *testing.F) {
	f.Add(`{"op":"create","class":"issues","data":{"n":1}}`)
	f.Add(`{"op":"action","class":"issues","name":"x","input":{"a":[1,{"b":null}]}}`)
	f.Fuzz(func(t *testing.T, text string) {
		v, err := value.Read([]byte(text), 0)
		if err != nil {
			return
		}
		canonical := write.AppendCanonical(nil, v)
		back, err := value.Read(canonical, 0)
		if err != nil || string(write.AppendCanonical(nil, back)) != string(canonical) {
			t.Fatalf("%s becomes %s: %v", text, canonical, err)
		}
		w, err := write.Parse(v, "")
		if err != nil {
			return
		}
		again, err := write.Parse(write.Print(w), "")
		if err != nil || write.Print(again).String() != write.Print(w).String() {
			t.Fatal(write.Print(w), err)
		}
	})
}

// TestOrder checks that the order of members makes no difference.
func TestOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-zé😀]{1,3}`), 1, 6, rapid.ID[string]).Draw(t, "names")
		members := make([]value.Member, len(names))
		for i, n := range names {
			members[i] = value.Member{Name: n, Value: value.OfInt(int64(i))}
		}
		canonical := func(m []value.Member) string { return string(write.AppendCanonical(nil, value.OfObject(m))) }
		if canonical(members) != canonical(rapid.Permutation(members).Draw(t, "order")) {
			t.Fatal(strings.Join(names, " "))
		}
	})
}
