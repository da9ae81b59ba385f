package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/secretnames"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// parseCode finds the short name of the records of c: the template of the rule, or a text field with a typical name.
func (c *class) parseCode(fail func(string, ...any)) {
	if c.rule.Code == "" {
		c.code = c.likelyCode()
		return
	}
	c.code = c.parseName(c.rule.Code, func(format string, args ...any) { fail("code: "+format, args...) })
}

// parseName parses a text with fields in braces.
func (c *class) parseName(template string, fail func(string, ...any)) (parts []plan.NamePart) {
	rest := template
	for rest != "" {
		text, after, more := strings.Cut(rest, "{")
		if text != "" {
			parts = append(parts, plan.NamePart{Text: text})
		}
		if !more {
			break
		}
		name, behind, closed := strings.Cut(after, "}")
		if !closed {
			fail("%q has no closing brace", template)
			return nil
		}
		part, wrong := c.codePart(name)
		if wrong != "" {
			fail("%s", wrong)
			return nil
		}
		parts, rest = append(parts, part), behind
	}
	if !slices.ContainsFunc(parts, func(p plan.NamePart) bool { return p.Field != "" }) {
		fail("%q names no field. Write a field in braces, such as {number}", template)
	}
	return parts
}

// codePart returns the part for a name in braces, or the reason why it isn't one.
func (c *class) codePart(name string) (part plan.NamePart, wrong string) {
	field, of, pointed := strings.Cut(name, ".")
	part = plan.NamePart{Field: field, Of: of}
	if c.Field(field) == nil {
		return part, fmt.Sprintf("there is no field %q", field) + problem.DidYouMean(problem.Nearest(field, c.FieldNames(), 2))
	}
	if !pointed {
		return part, declaredLabel(c.Class, field, c.Seen[field] != nil, c.rule.Mask[field] != "" && c.rule.MaskBut[field] == "")
	}
	to := c.relation(field)
	if to == nil {
		return part, field + " is not a pointer. Write {" + field + "}, or declare the pointer with pointers"
	}
	return part, declaredLabel(to.target.Class, of, to.target.Seen[of] != nil, to.target.rule.Mask[of] != "" && to.target.rule.MaskBut[of] == "")
}

// likelyCode returns the first text field with a typical name for a short name, or nil.
func (c *class) likelyCode() []plan.NamePart {
	for _, name := range []string{"key", "code", "slug", "sku", "reference"} {
		for _, f := range c.Visible {
			plain := f.Type == schema.String && !c.Large[f.Name] && c.relation(f.Name) == nil && !slices.Contains(c.Key, f.Name)
			if plain && strings.Join(secretnames.Words(f.Name), "") == name {
				return []plan.NamePart{{Field: f.Name}}
			}
		}
	}
	return nil
}

// Code returns the parts of the short name of a record, such as PAY-17. It returns nil if there is none, or if the
// principal doesn't see one of its fields whole.
func (v *View) Code() []plan.NamePart { return v.whole(v.class.code) }

// whole returns parts, or nil if the principal doesn't see one of their fields whole.
func (v *View) whole(parts []plan.NamePart) []plan.NamePart {
	for _, part := range parts {
		if part.Field == "" {
			continue
		}
		if v.Field(part.Field) == nil || v.Mask(part.Field) != nil {
			return nil
		}
		if part.Of == "" {
			continue
		}
		to := v.pointer(part.Field)
		if to == nil {
			return nil
		}
		if to.target.Field(part.Of) == nil || to.target.Mask(part.Of) != nil {
			return nil
		}
	}
	return parts
}

// Parent returns the pointer to the record to which a record of the class belongs, or "". It is the pointer through
// which the tenant of the record is found. In a class without labels it may also be the first required pointer.
func (v *View) Parent() string {
	if t := v.class.rule.Tenant; t != nil && t.Through != "" && v.pointer(t.Through) != nil {
		return t.Through
	}
	if len(v.class.labels) > 0 {
		return ""
	}
	for i := range v.class.Fields {
		if f := &v.class.Fields[i]; f.NotNull && v.Field(f.Name) != nil && v.Mask(f.Name) == nil && v.pointer(f.Name) != nil {
			return f.Name
		}
	}
	return ""
}
