package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"

	"github.com/bailiwick-dev/bailiwick/query"
)

// operatorLists are the lists of operators in docs/pipelines.md, each with its area.
var operatorLists = regexp.MustCompile(`(?s)(<!-- operators: (\w+) -->\n).*?(<!-- /operators -->)`)

// pipelines returns docs/pipelines.md with the lists of operators as query.Families has them.
func pipelines() ([]byte, error) {
	page, err := os.ReadFile("docs/pipelines.md")
	if err != nil {
		return nil, err
	}
	lists := map[string]string{}
	for _, f := range query.Families {
		about := ": " + f.Doc
		if strings.HasPrefix(f.Doc, "(") {
			about = " " + f.Doc
		}
		lists[f.Area] += "- `" + strings.Join(f.Operators(), "`, `") + "`" + about + "\n"
	}
	for _, m := range operatorLists.FindAllSubmatch(page, -1) {
		area := string(m[2])
		if lists[area] == "" {
			return nil, fmt.Errorf("docs/pipelines.md has a list of %q, and query.Families has no such operators", area)
		}
		page = []byte(strings.Replace(string(page), string(m[0]), string(m[1])+lists[area]+string(m[3]), 1))
		delete(lists, area)
	}
	for area := range lists {
		return nil, fmt.Errorf("docs/pipelines.md has no list of the operators of %q", area)
	}
	return page, nil
}
