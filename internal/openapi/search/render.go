package search

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
)

// maxDetail is the approximate maximum size of a detail in bytes. It corresponds to 1,500 tokens of 4 bytes.
const maxDetail = 6000

// maxText is the maximum length of a description in characters.
const maxText = 100

// A measure limits how much is described.
type measure struct {
	depth        int // number of levels
	fields       int // maximum number of fields of one object
	descriptions bool
}

// measures are tried in order until a detail is short enough. Each pair contains a measure for the request and one
// for the response.
var measures = [][2]measure{
	{{2, 60, true}, {2, 60, true}},
	{{2, 60, true}, {2, 40, false}},
	{{2, 60, true}, {1, 60, false}},
	{{2, 60, true}, {1, 25, false}},
	{{2, 40, true}, {1, 12, false}},
	{{2, 40, false}, {1, 12, false}},
	{{1, 60, false}, {1, 12, false}},
	{{1, 40, false}, {1, 5, false}},
	{{1, 25, false}, {0, 0, false}},
	{{1, 12, false}, {0, 0, false}},
}

// DescribeOperation returns the detail of op, an operation visible in v. The detail has at most about maxDetail
// bytes.
func DescribeOperation(v *spec.View, op *spec.Operation) string {
	text := ""
	for _, m := range measures {
		if text = detail(v, op, m[0], m[1]); len(text) <= maxDetail {
			break
		}
	}
	return text
}

// detail returns the description of op, with request and response cut to their measures. If parts are cut, the last
// line describes how to get the first of them.
func detail(v *spec.View, op *spec.Operation, request, answer measure) string {
	p := &printer{v: v}
	p.line(0, line(v, op))
	if why := v.Uncallable(op); why != "" {
		p.line(0, "Calls are refused: "+oneLine(why, 3*maxText))
	}
	text := prose(op.Description, maxText)
	cut := strings.HasSuffix(text, "…")
	if text == summary(op) {
		text = ""
	}
	if cut {
		text = strings.TrimSpace(text + ` (at="description": the whole)`)
	}
	if text != "" {
		p.line(0, text)
	}
	p.measure, p.request = request, true
	p.parameters(op)
	p.body(op.Body)
	p.measure, p.request = answer, false
	p.answers(op)
	if p.cut != "" {
		p.line(0, fmt.Sprintf("A part in full: at=%q", oneLine(p.cut, 300)))
	}
	return p.b.String()
}

// line returns one line that describes an operation in a list: id, method and path, summary and access class. It
// marks operations that need review.
func line(v *spec.View, op *spec.Operation) string {
	class := v.Class(op)
	mark := class.String()
	if v.Uncallable(op) != "" {
		mark += ", can't be called"
	} else if how := v.ReviewNote(op); how != "" {
		mark += ", " + how
	}
	if op.Deprecated {
		mark += ", deprecated"
	}
	text := summary(op)
	if text != "" {
		text = " - " + text
	}
	return fmt.Sprintf("%s: %s %s%s [%s]", name(op.ID), op.Method, oneLine(op.Path, 300), text, mark)
}

// needs returns the required arguments of a read other than path parameters. With them, an agent can make a simple
// call from a search result.
func needs(v *spec.View, op *spec.Operation) string {
	if v.Class(op) != spec.ClassRead {
		return ""
	}
	var names []string
	for _, q := range v.Parameters(op) {
		if q.Required && (q.In == "query" || q.In == "header" || q.In == "cookie") && v.FixedValue(q) == nil {
			names = append(names, strings.NewReplacer("header", "headers", "cookie", "cookies").Replace(q.In)+"."+q.Name)
		}
	}
	if op.Body != nil {
		for _, f := range v.Object(v.Schema(op.Body.PreferredContent().Schema)).Fields {
			if f.Required && !v.Schema(f.Schema).ReadOnly {
				names = append(names, "body."+f.Name)
			}
		}
		if op.Body.Required && !slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(n, "body.") }) {
			names = append(names, "body")
		}
	}
	if len(names) == 0 {
		return ""
	}
	if len(names) > 6 {
		names = append(names[:6], "…")
	}
	return " needs " + oneLine(strings.Join(names, ", "), 3*maxText)
}

// summary returns the summary of an operation. If there is none, or if it only repeats the name, it returns the
// description.
func summary(op *spec.Operation) string {
	text := prose(op.Summary, maxText)
	if text == "" || strings.EqualFold(text, spec.ShortName(op.ID)) {
		text = prose(op.Description, maxText)
	}
	return text
}

// DescribeResult returns a search result as text. Each operation has one line, and further operations follow by id
// only. If there is no good match, it adds the services to search in.
func DescribeResult(v *spec.View, r Result) string {
	p := &printer{v: v}
	switch {
	case r.Weak && len(r.Operations) == 0:
		p.line(0, "No operation matches."+rephrase(r))
	case r.Weak:
		p.line(0, fmt.Sprintf("No strong match."+rephrase(r)+" The nearest %d of %d operations:", len(r.Operations), r.Total))
	case r.Service != "":
		p.line(0, fmt.Sprintf("%s, %s of %d operations:", name(r.Service), span(r), r.Total))
	default:
		p.line(0, fmt.Sprintf("%s of %d operations:", span(r), r.Total))
	}
	for _, op := range r.Operations {
		p.line(0, line(v, op)+needs(v, op))
	}
	if r.Weak {
		p.elsewhere(r)
	} else {
		p.also(r.Also)
	}
	return p.b.String()
}

// rephrase returns advice for a query with only one phrasing: several phrasings, in words that an API would use, find
// more. For other queries it returns "".
func rephrase(r Result) string {
	if r.Phrasings > 1 {
		return ""
	}
	return " Ask in 2 to 4 phrasings of a verb and an object, as an API would name them (create invoice; add bill)."
}

func span(r Result) string {
	if len(r.Operations) == 0 {
		return "0"
	}
	return fmt.Sprintf("%d to %d", r.Offset+1, r.Offset+len(r.Operations))
}

// DescribeServices returns the services of an API, one per line.
func DescribeServices(v *spec.View, all []Service) string {
	p := &printer{v: v}
	title, _ := v.Document()
	n := len(v.Operations())
	if title = oneLine(title, maxText); title != "" {
		title += ": "
	}
	p.line(0, fmt.Sprintf("%s%d operations in %d services:", title, n, len(all)))
	p.services(all)
	return p.b.String()
}

// maxServices is the maximum number of services listed.
const maxServices = 150

// services lists at most maxServices services with their number of operations.
func (p *printer) services(all []Service) {
	for i, s := range all {
		if i == maxServices {
			p.line(0, fmt.Sprintf("… and %d more", len(all)-i))
			break
		}
		text := prose(s.Description, maxText)
		if text != "" {
			text = " - " + text
		}
		p.line(0, fmt.Sprintf("%s (%d)%s", name(s.Name), s.Operations, text))
	}
}

// DescribeSchema returns the description of the schema with the given full or short name. It contains the fields of a
// message, or the values of an enum. It returns the errors of spec.View.SchemaByName.
func DescribeSchema(v *spec.View, called string) (string, error) {
	s, err := v.SchemaByName(called)
	if err != nil {
		return "", err
	}
	text := ""
	for _, m := range []measure{{2, 200, true}, {1, 200, true}, {1, 100, true}, {1, 100, false}, {1, 60, false}, {1, 25, false}} {
		p := &printer{v: v, measure: m, whole: true}
		p.schema(s)
		if text = p.b.String(); len(text) <= maxDetail {
			break
		}
	}
	return text, nil
}
