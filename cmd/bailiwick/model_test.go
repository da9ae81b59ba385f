package main

import (
	"encoding/json"
	"net/http/httptest"
	"os"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/bailiwick-dev/bailiwick/test/scripted"
)

// model [plans] serves a scripted model and sets the variables for it. The script answers the tracker's questions, or
// those of the evaluation.
func model(ts *testscript.TestScript, _ bool, args []string) {
	plans := scripted.Tracker()
	if len(args) > 0 {
		data, err := os.ReadFile(ts.Getenv("EXAMPLES") + "/../cmd/bailiwick/testdata/eval/plans.json")
		ts.Check(err)
		ts.Check(json.Unmarshal(data, &plans))
	}
	s := httptest.NewServer(&scripted.Server{Script: scripted.Rules(plans), Key: "sk-canary"})
	ts.Defer(s.Close)
	ts.Setenv("LLM_PROVIDER", "openai")
	ts.Setenv("LLM_API_KEY", "sk-canary")
	ts.Setenv("LLM_BASE_URL", s.URL+"/v1")
}

// edit FILE NEW OLD TEXT writes a copy of FILE to NEW with OLD replaced by TEXT.
func edit(ts *testscript.TestScript, _ bool, args []string) {
	before := ts.ReadFile(args[0])
	if strings.Count(before, args[2]) != 1 {
		ts.Fatalf("%q is not once in %s", args[2], args[0])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(strings.Replace(before, args[2], args[3], 1)), 0o600))
}
