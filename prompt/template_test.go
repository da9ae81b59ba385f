package prompt_test

import (
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/prompt"
)

// TestFromTemplate checks the results of templates, or the reasons why they are refused when they are loaded.
func TestFromTemplate(t *testing.T) {
	arguments := []prompt.Argument{{Name: "team", Required: true}, {Name: "since"}}
	for _, tt := range []struct{ template, want string }{
		{"About {{.team}}.", "About A{{.since}}\"."},
		{"About {{json .team}}.", `About "A{{.since}}\"".`},
		{"{{if .since}}since {{.since}}{{else}}ever{{end}}", "ever"},
		{"{{with .team}}{{.}}: {{$.since}}{{else}}none{{end}}", "A{{.since}}\": "},
		{`{{if and .team (not (eq .since "x"))}}a{{else if .since}}b{{end}}{{/* nothing */}}`, "a"},
		{"{{len .team}}", "12"},
		{"", "! the template is empty"},
		{"{{.team", "! line 1: unclosed action"},
		{"{{end}}", "! line 1: unexpected {{end}}"},
		{"a\nb {{.teem}}", "! line 2, column 4: unknown argument \"teem\". Did you mean team?"},
		{"{{.nothing}}", "! line 1, column 2: unknown argument \"nothing\". It takes since, team"},
		{"{{.team.x}}", "! line 1, column 7: an argument is text and has no parts: .team.x"},
		{"{{.}}", "! line 1, column 2: a dot alone is all arguments; name one: .team, .since"},
		{"{{$}}", "! line 1, column 2: a prompt has no variables"},
		{"{{$x := .team}}{{$x}}", "! line 1, column 2: a prompt has no variables\nline 1, column 17: a prompt has no variables"},
		{"{{range .team}}{{end}}", "! line 1, column 8: range isn't allowed in a prompt. It has if, else and with"},
		{"{{range 1000000000}}{{end}}", "! line 1, column 8: range isn't allowed in a prompt. It has if, else and with"},
		{`{{printf "%999999d" 1}}`, "! line 1, column 2: a prompt can't call printf. It has and, eq, json, len, ne, not, or"},
		{"{{html .team | print}}", "! line 1, column 2: a prompt can't call html. It has and, eq, json, len, ne, not, or\nline 1, column 15: a prompt can't call print. It has and, eq, json, len, ne, not, or"},
		{`{{template "p"}}`, "! line 1, column 11: template isn't allowed in a prompt. It has if, else and with"},
		{`{{define "q"}}x{{end}}a`, "! a template can't define others"},
		{"{{readFile .team}}", "! line 1: function \"readFile\" not defined"},
		{"{{with .team}}{{.since}}{{end}}", "! line 1, column 16: inside of with, the dot is one argument; write $.since for an argument"},
		{"{{eq .team 1}}", "! line 1, column 2: <eq .team 1>: error calling eq: incompatible types for comparison: string and int"},
		{"{{nil}}", "! line 1, column 2: nil isn't allowed in a prompt"},
		{"{{(.team).x}}", "! line 1, column 9: (.team).x isn't allowed in a prompt"},
	} {
		p, err := prompt.FromTemplate(prompt.Prompt{Name: "p", Arguments: arguments}, tt.template)
		got := ""
		if err != nil {
			got = "! " + err.Error()
		} else {
			s := open(t, p)
			res, err := s.Get(t.Context(), people["ann"], prompt.Request{Name: "p", Arguments: map[string]string{"team": `A{{.since}}"`}})
			if err != nil {
				t.Fatal(err)
			}
			got = res.Messages[0].Text
		}
		if got != tt.want {
			t.Errorf("%s\ngives %s\nwant  %s", tt.template, got, tt.want)
		}
	}
}

// TestTemplateBounds checks that a result that is too long because of its arguments is refused.
func TestTemplateBounds(t *testing.T) {
	p, err := prompt.FromTemplate(prompt.Prompt{Name: "p", Arguments: []prompt.Argument{{Name: "a"}}}, strings.Repeat("{{.a}}", 20))
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, p)
	for _, tt := range []struct {
		size int
		want problem.Code
	}{{3000, ""}, {4096, problem.BudgetExceeded}, {4097, problem.InvalidArgument}} {
		_, err := s.Get(t.Context(), people["ann"], prompt.Request{Name: "p", Arguments: map[string]string{"a": strings.Repeat("x", tt.size)}})
		if problem.CodeOf(err) != tt.want {
			t.Errorf("%d bytes: %v", tt.size, err)
		}
	}
}
