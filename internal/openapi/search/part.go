package search

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// partMeasures are tried in order until the description of a part is short enough.
var partMeasures = []measure{{3, 200, true}, {2, 200, true}, {1, 200, true}, {1, 200, false}, {1, 100, false}, {1, 60, false}, {1, 25, false}}

// DescribePart returns the description of one part of op, an operation visible in v. The path at begins with path,
// query, headers, cookies, body or response, followed by dotted names (body.line_items.price_data). The path
// description returns the whole description of op, in parts of maxDescription characters (description.2). Names skip
// lists. An alternative is named by its schema or by its number, from 1. DescribePart returns problem.NotFound with
// near names for a part that does not exist.
func DescribePart(v *spec.View, op *spec.Operation, at string) (string, error) {
	place, rest, _ := strings.Cut(at, ".")
	if place == "description" {
		return description(op, rest)
	}
	s, section, err := top(v, op, place, &rest)
	if err != nil {
		return "", err
	}
	request := place != "response"
	if section != nil {
		return shortest(func(m measure) string {
			p := &printer{v: v, measure: m, request: request}
			section(p)
			return p.b.String()
		}), nil
	}
	below := strings.TrimSuffix(strings.TrimSuffix(at, rest), ".")
	return describePath(v, s, below, rest, request)
}

// maxDescription is the maximum length of a description in one answer, in characters.
const maxDescription = 5000

// description returns the part of op's description with the given number, on one line. An empty number means the
// first part.
func description(op *spec.Operation, number string) (string, error) {
	flat := []rune(prose(op.Description, len(op.Description)+1))
	parts := max(1, (len(flat)+maxDescription-1)/maxDescription)
	n := 1
	if number != "" {
		var err error
		if n, err = strconv.Atoi(number); err != nil || n < 1 || n > parts {
			return "", &problem.Error{Code: problem.NotFound, Detail: fmt.Sprintf("the description has %d parts: description to description.%d", parts, parts)}
		}
	}
	if len(flat) == 0 {
		return "", &problem.Error{Code: problem.NotFound, Detail: oneLine(op.ID, 200) + " has no description"}
	}
	text := "description: " + string(flat[(n-1)*maxDescription:min(len(flat), n*maxDescription)]) + "\n"
	if n < parts {
		text += fmt.Sprintf("Part %d of %d. The next one: at=\"description.%d\"\n", n, parts, n+1)
	}
	return text, nil
}

// DescribeSchemaPart returns the description of the part at of a schema. The schema is given by its full or short
// name.
func DescribeSchemaPart(v *spec.View, called, at string) (string, error) {
	s, err := v.SchemaByName(called)
	if err != nil {
		return "", err
	}
	return describePath(v, s, "", at, false)
}

// top returns the schema at the top of a part, or a function that writes a whole section. It removes the name of a
// parameter from rest.
func top(v *spec.View, op *spec.Operation, place string, rest *string) (s spec.Schema, section func(*printer), err error) {
	switch place {
	case "path", "query", "headers", "cookies":
		in := strings.TrimSuffix(place, "s")
		var names []string
		for _, q := range v.Parameters(op) {
			if q.In != in || v.FixedValue(q) != nil {
				continue
			}
			if after, ok := below(*rest, q.Name); ok {
				*rest = after
				s := v.Schema(q.Schema)
				if q.Description != "" {
					s.Description = q.Description
				}
				return s, nil, nil
			}
			names = append(names, q.Name)
		}
		if *rest == "" {
			return s, func(p *printer) { p.place(op, in) }, nil
		}
		return s, nil, noPart(place, *rest, names)
	case "body":
		if op.Body == nil {
			return s, nil, &problem.Error{Code: problem.NotFound, Detail: oneLine(op.ID, 200) + " takes no body"}
		}
		return v.Schema(op.Body.PreferredContent().Schema), nil, nil
	case "response":
		if best := op.Success(); best != nil && best.PreferredContent() != nil {
			return v.Schema(best.PreferredContent().Schema), nil, nil
		}
		return s, nil, &problem.Error{Code: problem.NotFound, Detail: "the document doesn't describe what " + oneLine(op.ID, 200) + " answers"}
	}
	near := inside(v, op, strings.TrimSuffix(place+"."+*rest, "."))
	if len(near) == 0 {
		near = problem.Nearest(place, places, 2)
	}
	return s, nil, &problem.Error{Code: problem.NotFound, Near: near,
		Detail: fmt.Sprintf("no part %q%s", problem.Cut(place), problem.DidYouMean(near)), Suggestion: "a part begins with path, query, headers, cookies, body or response. The part description is that of the operation"}
}

// places are the names that a part can begin with.
var places = []string{"path", "query", "headers", "cookies", "body", "response", "description"}

// inside returns the full names of the parts of op that end in at: body.rules for rules.
func inside(v *spec.View, op *spec.Operation, at string) (out []string) {
	for _, place := range places[:len(places)-1] {
		if _, err := DescribePart(v, op, place+"."+at); err == nil {
			out = append(out, oneLine(place+"."+at, maxText))
		}
	}
	return out
}

// noPart returns the error for a name that the part at doesn't have. The error contains near names or, if there are
// none, the first twelve names.
func noPart(at, name string, names []string) error {
	name, _, _ = strings.Cut(name, ".")
	near := problem.Nearest(name, names, 3)
	if at == "" {
		at = "it"
	}
	return &problem.Error{Code: problem.NotFound, Near: near, Detail: fmt.Sprintf("%s has no %q%s", problem.Cut(at), problem.Cut(name), problem.Instead(near, names, "has", 12))}
}

// below returns the rest of a dotted path after name, and whether the path begins with name.
func below(path, name string) (string, bool) {
	if path == name {
		return "", true
	}
	if rest, ok := strings.CutPrefix(path, name+"."); ok && name != "" {
		return rest, true
	}
	return path, false
}

// describePath follows the path rest from s, which is at the path at. It returns the description of the schema there.
func describePath(v *spec.View, s spec.Schema, at, rest string, request bool) (string, error) {
	for range 64 {
		if rest == "" {
			break
		}
		next, left, names := step(v, s, rest, 0)
		if left == rest {
			return "", noPart(at, rest, names)
		}
		at = strings.TrimPrefix(at+"."+strings.TrimSuffix(strings.TrimSuffix(rest, left), "."), ".")
		s, rest = next, left
	}
	return shortest(func(m measure) string {
		p := &printer{v: v, measure: m, request: request, at: strings.Split(at, ".")}
		p.part(at, s)
		return p.b.String()
	}), nil
}

// step returns the schema for the first name in rest and the remaining names. It searches s or, if s is a list, its
// elements. If the name doesn't exist, it returns all of rest and the existing names.
func step(v *spec.View, s spec.Schema, rest string, depth int) (spec.Schema, string, []string) {
	for range 4 {
		if s.Items != nil && s.Is("array") {
			s = v.Schema(s.Items)
		}
	}
	// A field of the object comes first. The longest matching name counts, because names may contain dots.
	o := v.Object(s)
	var names []string
	best, left, found := s, rest, false
	for _, f := range o.Fields {
		names = append(names, f.Name)
		if after, ok := below(rest, f.Name); ok && (!found || len(after) < len(left)) {
			best, left, found = v.Schema(f.Schema), after, true
		}
	}
	if found {
		return best, left, nil
	}
	// Then come alternatives, by name or number, and fields of alternatives.
	for i, c := range o.Choices {
		in := v.Schema(c)
		for _, called := range []string{in.Name, spec.ShortName(in.Name), strconv.Itoa(i + 1)} {
			if after, ok := below(rest, called); ok && called != "" {
				return in, after, nil
			}
		}
		if in.Name != "" {
			names = append(names, spec.ShortName(in.Name))
		}
	}
	for _, c := range o.Choices {
		if depth > 4 {
			break
		}
		in, after, more := step(v, v.Schema(c), rest, depth+1)
		if after != rest {
			return in, after, nil
		}
		names = append(names, more...)
	}
	if o.Further != nil { // any name matches a value of a map
		_, after, _ := strings.Cut(rest, ".")
		return v.Schema(o.Further), after, nil
	}
	slices.Sort(names)
	return s, rest, slices.Compact(names)
}

// shortest describes with smaller and smaller measures until the text is short enough.
func shortest(describe func(measure) string) string {
	text := ""
	for _, m := range partMeasures {
		if text = describe(m); len(text) <= maxDetail {
			break
		}
	}
	return text
}

// part describes s, which is at the path at.
func (p *printer) part(at string, s spec.Schema) {
	text := p.kind(s, 0)
	if at != "" {
		text = oneLine(at, 300) + ": " + text
	}
	if d, ok := shortJSON(s.Default); ok {
		text += " = " + d
	}
	p.line(0, text)
	if said := prose(s.Description, 10*maxText); said != "" {
		p.line(0, said)
	}
	if len(s.Enum) > maxEnum {
		p.values(s)
	}
	p.inside(1, s, 0)
}
