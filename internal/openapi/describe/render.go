// Package describe tells agents of an HTTP API in few words: operations, schemas, services and what a search found.
//
// It stands before the way, at the end of discovery. It takes a View, so it can tell of nothing that is hidden. The
// detail of an operation says first what to send, required things first, and then what comes back, two levels deep;
// deeper things are named, and Schema opens names. A detail stays within MaxDetail bytes: what comes back is told
// shorter before what to send is. Texts of the document are flattened to one line and cut: they are data, and they
// can't end a line or begin another.
package describe

import (
	"fmt"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/classify"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/search"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/visible"
)

// MaxDetail is about how many bytes a detail has at most: 1,500 tokens of 4 bytes.
const MaxDetail = 6000

// maxText is how many characters a description has at most.
const maxText = 100

// A measure says how much is told.
type measure struct {
	depth        int // levels
	fields       int // at most, of one object
	descriptions bool
}

// measures are tried until a detail is short enough: of the request, and of the answer.
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

// Operation returns the detail of an operation that is in v.
func Operation(v *visible.View, op *spec.Operation) string {
	text := ""
	for _, m := range measures {
		if text = detail(v, op, m[0], m[1]); len(text) <= MaxDetail {
			break
		}
	}
	return text
}

func detail(v *visible.View, op *spec.Operation, request, answer measure) string {
	p := &printer{v: v}
	p.line(0, Line(v, op))
	if text := oneLine(op.Description, maxText); text != "" && text != summary(op) {
		p.line(0, text)
	}
	p.measure, p.request = request, true
	p.parameters(op)
	p.body(op.Body)
	p.measure, p.request = answer, false
	p.answers(op)
	return p.b.String()
}

// Line returns the one line that tells of an operation in a list: id, method and path, summary, access class. What
// changes something is marked: a person reviews it before it runs.
func Line(v *visible.View, op *spec.Operation) string {
	class := v.Class(op)
	mark := class.String()
	if class != classify.Read {
		mark += ", needs review"
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

// summary returns the summary of an operation, or its description where the summary only repeats its name.
func summary(op *spec.Operation) string {
	text := oneLine(op.Summary, maxText)
	if text == "" || strings.EqualFold(text, spec.ShortName(op.ID)) {
		text = oneLine(op.Description, maxText)
	}
	return text
}

// Found returns what a search found, a line each, and where else to look.
func Found(v *visible.View, r search.Result) string {
	p := &printer{v: v}
	switch {
	case r.Weak && len(r.Operations) == 0:
		p.line(0, "No operation matches. Services:")
	case r.Weak:
		p.line(0, fmt.Sprintf("No strong match. The nearest %d of %d operations:", len(r.Operations), r.Total))
	case r.Service != "":
		p.line(0, fmt.Sprintf("%s, %s of %d operations:", name(r.Service), span(r), r.Total))
	default:
		p.line(0, fmt.Sprintf("%s of %d operations:", span(r), r.Total))
	}
	for _, op := range r.Operations {
		p.line(0, Line(v, op))
	}
	if r.Weak && len(r.Operations) > 0 {
		p.line(0, "Services:")
	}
	p.services(r.Services)
	return p.b.String()
}

func span(r search.Result) string {
	if len(r.Operations) == 0 {
		return "0"
	}
	return fmt.Sprintf("%d to %d", r.Offset+1, r.Offset+len(r.Operations))
}

// Services returns the services of an API, a line each.
func Services(v *visible.View, all []search.Service) string {
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

// maxServices is how many services are told at once.
const maxServices = 150

func (p *printer) services(all []search.Service) {
	for i, s := range all {
		if i == maxServices {
			p.line(0, fmt.Sprintf("… and %d more", len(all)-i))
			break
		}
		text := oneLine(s.Description, maxText)
		if text != "" {
			text = " - " + text
		}
		p.line(0, fmt.Sprintf("%s (%d)%s", name(s.Name), s.Operations, text))
	}
}

// Schema returns the schema of that name, full or short: the fields of a message, or the values of an enum. It refuses
// as view.View.Named does.
func Schema(v *visible.View, called string) (string, error) {
	s, err := v.Named(called)
	if err != nil {
		return "", err
	}
	text := ""
	for _, m := range []measure{{2, 200, true}, {1, 200, true}, {1, 100, true}, {1, 100, false}, {1, 60, false}, {1, 25, false}} {
		p := &printer{v: v, measure: m, whole: true}
		p.schema(s)
		if text = p.b.String(); len(text) <= MaxDetail {
			break
		}
	}
	return text, nil
}
