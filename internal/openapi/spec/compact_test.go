package spec

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
)

// TestCompact checks the compacted document or the error. The document is read byte by byte.
func TestCompact(t *testing.T) {
	deep := strings.Repeat("[", maxDepth+1)
	for in, want := range map[string]string{
		"\xef\xbb\xbf { \"a b\" : [ 1 , true,\"x \\\" y\\\\\" ,\n{ } ] }\n ": `{"a b":[1,true,"x \" y\\",{}]}`,
		`{"a": 1, "b" :2, "a": 3}`: `{"a":3,"b":2}`,
		`{"a": 1 2}`:               "invalid character '2' after object value (expecting ',' or '}') after offset 8",
		`{"a": 1, "a": 1 2}`:       "invalid character",
		`{"a": tr ue}`:             "invalid character",
		`{"a": 1} 2`:               "more text after the document, at byte 8",
		`{"a": 1, "a": 2} 2`:       "more text after the document",
		`{"a": "` + "\n" + `"}`:    "invalid character",
		`{"a": 1`:                  "unexpected EOF",
		`{"a": 1, "a": 2`:          "unexpected EOF",
		`{"a": ` + deep:            "nested deeper than 500 at byte 505",
		`{"a": 1, "a": ` + deep:    "nested deeper than 500 at byte 513",
		"  \n":                     errEmpty.Error(),
		"":                         errEmpty.Error(),
	} {
		raw, _, err := parse(iotest.OneByteReader(strings.NewReader(in)), 0)
		got := string(raw)
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) || err == nil && got != want {
			t.Errorf("%.60q: %s, want %s", in, got, want)
		}
	}
}

// split converts YAML in parts of at most portion bytes. It returns false if that is not possible.
func split(b []byte, portion int) (string, bool) {
	w := writer{most: 1 << 20, portion: portion}
	if w.section(b, 0) != nil {
		return "", false
	}
	return string(w.out), true
}

// TestSections checks that YAML parsed in parts gives the same result as YAML parsed at once. It also checks which
// documents can't be parsed in parts.
func TestSections(t *testing.T) {
	for in, can := range map[string]bool{
		"---\n# x\na: 1\nb:\n  c: 2\n\n  # y\n  d:\n  - 1\n  -\n   e: 3\nf: g\n":                true,
		"a:\r\n  b: 1\r\n  c: |\r\n   # no comment\r\n\r\n   d:\r\n  e: >-\r\n   x\r\n   y\r\n": true,
		"a:\n  'b':\n    \"c\": 1\n    d: x\n      y\n  2: z\n\n\n":                             true,
		"a:\n- b: 1\n  c: 2\n- d\ne: f\n":                                                       true,
		"a: # x:\n  b: 1\n  c: 2\n":                                                             true,
		"a:\n  b: \"x\n  c: y\"\n  d: 1\n":                                                      false,
		"a:\n  b: [1,\n  c: 2]\n":                                                               false,
		"a: {\n}\nb: 1\n":                                                                       false,
		"a: &x\n  b: 1\nc: *x\n":                                                                false,
		"a: &x 1\nb: &x 2\nc: *x\n":                                                             false,
		"a: &x:\n  b: 1\n  c: *x:\n":                                                            false,
		"a: x &y z\nb: \"&lt;\"\nc: &z\n  d: 1\n":                                               true,
		"a: x\nb: 1\na: 2\n":                                                                    false,
		"a:\n  <<: {b: 1, c: 2}\n  b: 3\n":                                                      true,
		"? a\n: 1\n":                                                                            false,
		"- a\n- b\n":                                                                            false,
		"a: 1\n---\nb: 2\n":                                                                     false,
		"a: 1\n...\nb: 2\n":                                                                     false,
		"%YAML 1.1\n---\na: 1\n":                                                                false,
		" a: 1\nb: 2\n":                                                                         false,
		"a: text #:\n  b: 1\n  c: 2\n":                                                          false,
	} {
		got, ok := split([]byte(in), 1)
		want, err := (&writer{most: 1 << 20}).whole([]byte(in))
		if ok != can || ok && (err != nil || got != string(want)) {
			t.Errorf("%q: %t %s, want %t %s %v", in, ok, got, can, want, err)
		}
	}
	files, err := filepath.Glob("../testdata/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		want, err := (&writer{most: 100 << 20}).whole(b)
		for _, n := range []int{1, 500, portion} {
			if got, ok := split(b, n); !ok || err != nil || got != string(want) {
				t.Errorf("%s in parts of %d: %t, %v", file, n, ok, err)
			}
		}
	}
}

// FuzzSections checks that a document parsed in parts gives the same result as a document parsed at once.
func FuzzSections(f *testing.F) {
	for _, seed := range []string{"a:\n  b: |\n   c:\n  d: 1\ne: [1]\n", "a: \"x\ny: z\"\nb: 1\n", "a:\n- b\n-  c: >1\n    d\ne:\n\n  f: 'g'\n", "a: &x\n  b: *x\nc: &x {<<: *x}\n", "---\n/a: {b: c}\n\"d\": # e:\n  f: g\n  h: i\n"} {
		f.Add([]byte(seed), 1)
	}
	f.Fuzz(func(t *testing.T, b []byte, portion int) {
		got, ok := split(b, portion)
		if !ok {
			return
		}
		want, err := (&writer{most: 1 << 20}).whole(b)
		if err != nil || !bytes.Equal([]byte(got), want) {
			t.Errorf("%q: %s, want %s %v", b, got, want, err)
		}
	})
}
