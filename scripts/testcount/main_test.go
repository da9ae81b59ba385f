package main

import (
	"strings"
	"testing"
)

func TestReport(t *testing.T) {
	for _, test := range []struct {
		name, in, want string
		ok             bool
	}{{
		name: "passed and skipped",
		in: `{"Action":"start","Package":"p"}
{"Action":"run","Package":"p","Test":"A"}
{"Action":"output","Package":"p","Test":"A","Output":"noise\n"}
{"Action":"pass","Package":"p","Test":"A","Elapsed":0.1}
{"Action":"run","Package":"p","Test":"B"}
{"Action":"output","Package":"p","Test":"B","Output":"=== RUN   B\n"}
{"Action":"output","Package":"p","Test":"B","Output":"    b_test.go:3: LEFT OUT: PostgreSQL: none\n"}
{"Action":"output","Package":"p","Test":"B","Output":"--- SKIP: B (0.00s)\n"}
{"Action":"skip","Package":"p","Test":"B"}
{"Action":"pass","Package":"p","Elapsed":1.5}
`,
		want: `ok       p 1.50s
skipped p B: b_test.go:3: LEFT OUT: PostgreSQL: none
1 passed, 0 failed, 1 skipped
`, ok: true,
	}, {
		name: "slow tests",
		in: `{"Action":"run","Package":"p","Test":"A"}
{"Action":"pass","Package":"p","Test":"A","Elapsed":4.99}
{"Action":"run","Package":"p","Test":"B"}
{"Action":"run","Package":"p","Test":"B/part"}
{"Action":"pass","Package":"p","Test":"B/part","Elapsed":12}
{"Action":"pass","Package":"p","Test":"B","Elapsed":12.5}
{"Action":"run","Package":"p","Test":"C"}
{"Action":"pass","Package":"p","Test":"C","Elapsed":130}
{"Action":"pass","Package":"p","Elapsed":147.5}
`,
		want: `ok       p 147.50s
 130.00s p C
  12.50s p B
4 passed, 0 failed, 0 skipped
`, ok: true,
	}, {
		name: "a failing test beside a passing one",
		in: `{"Action":"run","Package":"p","Test":"A"}
{"Action":"output","Package":"p","Test":"A","Output":"noise\n"}
{"Action":"pass","Package":"p","Test":"A"}
{"Action":"run","Package":"p","Test":"B"}
{"Action":"output","Package":"p","Test":"B","Output":"--- FAIL: B\n"}
{"Action":"output","Package":"p","Test":"B","Output":"    1 is not 2\n"}
{"Action":"fail","Package":"p","Test":"B"}
{"Action":"output","Package":"p","Output":"FAIL\n"}
{"Action":"fail","Package":"p","Elapsed":0.2}
`,
		want: `--- FAIL: B
    1 is not 2
FAIL
FAIL     p 0.20s
1 passed, 1 failed, 0 skipped
`,
	}, {
		name: "a package that doesn't build",
		in: `{"ImportPath":"p [p.test]","Action":"build-output","Output":"p.go:1: undefined: x\n"}
{"ImportPath":"p [p.test]","Action":"build-fail"}
{"Action":"start","Package":"p"}
{"Action":"fail","Package":"p","Elapsed":0,"FailedBuild":"p [p.test]"}
`,
		want: `p.go:1: undefined: x
FAIL     p 0.00s
0 passed, 1 failed, 0 skipped
`,
	}, {
		name: "a test that never ends",
		in: `{"Action":"run","Package":"p","Test":"A"}
{"Action":"output","Package":"p","Test":"A","Output":"panic: boom\n"}
{"Action":"fail","Package":"p","Elapsed":0.2}
`,
		want: `panic: boom
FAIL     p 0.20s
0 passed, 1 failed, 0 skipped
`,
	}, {
		name: "a stream that is cut off",
		in:   `{"Action":"run","Package":"p","Test":"A"}` + "\n",
		want: `the stream ends before p does
FAIL     p 0.00s
0 passed, 1 failed, 0 skipped
`,
	}, {
		name: "nothing at all",
		in:   "go: cannot find main module\n",
		want: `go: cannot find main module
no test was run
0 passed, 1 failed, 0 skipped
`,
	}} {
		t.Run(test.name, func(t *testing.T) {
			var out strings.Builder
			ok := report(strings.NewReader(test.in), &out)
			if out.String() != test.want || ok != test.ok {
				t.Errorf("got %t\n%s\nwant %t\n%s", ok, &out, test.ok, test.want)
			}
		})
	}
}
