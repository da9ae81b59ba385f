package parse

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A class contains the known facts about a class of Parse Server.
type class struct {
	*schema.Class
	types  map[string]string // Parse's type by field
	partly []string          // the fields that Parse Server omits from some records, and by which it can't filter or order
}

// hidden are Parse's own classes that are shown only if Options.System names them. They contain tokens of sessions,
// parameters of jobs and settings of the server.
var hidden = []string{"_Session", "_Product", "_JobStatus", "_JobSchedule", "_Hooks", "_GlobalConfig", "_GraphQLConfig", "_PushStatus",
	"_PushCampaign", "_Idempotency", "_Audience", "_ExportProgress", "_Join"}

// secret are fields that are never shown, regardless of rules.
var secret = []string{"ACL", "password", "authData", "sessionToken", "session_token"}

// Describe implements source.Source. With a direct connection, the fields of a class have the types of the database
// columns.
func (s *Source) Describe(ctx context.Context) ([]schema.Class, []string, error) {
	answer, err := s.ask(ctx, request{method: http.MethodGet, path: "/schemas", as: s.master()})
	if err != nil {
		if p := problem.Of(err); p.Code == problem.PermissionDenied {
			return nil, nil, &problem.Error{Code: problem.Upstream, Kind: "parse_keys", Detail: "Parse Server refuses the master key", Err: fmt.Errorf("the server refuses master_key: %w", p.Err)}
		}
		return nil, nil, err
	}
	var stored map[string]*schema.Class
	if s.direct != nil {
		if stored, err = s.databaseTables(ctx); err != nil {
			return nil, nil, err
		}
	}
	var out, pairs []schema.Class
	var warnings []string
	results, ok := answer.Get("results")
	if !ok || results.Kind() != value.Array || slices.ContainsFunc(results.List(), func(c value.Value) bool { return text(c, "className") == "" }) {
		return nil, nil, unexpectedAnswerError(&refusal{status: http.StatusOK}, "what answers is not Parse Server: /schemas lists no classes")
	}
	for _, described := range results.List() {
		name := text(described, "className")
		if slices.Contains(hidden, name) && !slices.Contains(s.options.System, name) {
			continue
		}
		c, warned := s.class(described)
		warnings = append(warnings, warned...)
		if s.direct != nil {
			table := stored[name]
			if table == nil {
				warnings = append(warnings, fmt.Sprintf("class %s is left out: the database has no such table, or the account may not read it", name))
				continue
			}
			warnings = append(warnings, setColumnTypes(&c, table)...)
		}
		out, pairs = append(out, c), append(pairs, relations(described, &c)...)
	}
	for _, c := range pairs {
		if !slices.ContainsFunc(out, func(to schema.Class) bool { return to.Name == c.Relations[1].Target }) {
			continue // the relation references a hidden class
		}
		if table := stored[c.Table]; table != nil {
			warnings = append(warnings, setColumnTypes(&c, table)...)
		} else if s.direct != nil {
			warnings = append(warnings, fmt.Sprintf("class %s is left out: the database has no such table, or the account may not read it", c.Name))
			continue
		}
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b schema.Class) int { return strings.Compare(a.Name, b.Name) })
	s.remember(out, results)
	return out, warnings, nil
}

// remember stores the classes for reading, and drops the known users.
func (s *Source) remember(classes []schema.Class, described value.Value) {
	known := map[string]*class{}
	for i := range classes {
		known[classes[i].Name] = &class{Class: &classes[i], types: map[string]string{}}
	}
	for _, d := range described.List() {
		if c := known[text(d, "className")]; c != nil {
			fields, _ := d.Get("fields")
			for _, f := range fields.Members() {
				c.types[f.Name] = text(f.Value, "type")
			}
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.classes, s.read, s.doubted = known, time.Now(), false
	clear(s.known)
}

// checkClass returns an error if the class in Parse Server no longer matches its description. For a class or a field
// that doesn't exist, Parse Server returns no records, which would be mistaken for an answer.
func (s *Source) checkClass(ctx context.Context, c *class) error {
	name, fields := c.Table, c.Fields
	if c.pairs() {
		var field string
		field, name = c.relation()
		c, fields = &class{Class: c.Class, types: map[string]string{field: "Relation"}}, []schema.Field{{Name: field}}
	}
	now, err := s.ask(ctx, request{method: http.MethodGet, path: "/schemas/" + name, as: s.master()})
	if no := new(refusal); err != nil && !(errors.As(err, &no) && no.code == codeClass) {
		return err
	}
	described, _ := now.Get("fields")
	for _, f := range fields {
		field, _ := described.Get(f.Name)
		if f.Name != readers && text(field, "type") != c.types[f.Name] {
			s.forget()
			return &problem.Error{Code: problem.Upstream, Kind: "parse_changed", Detail: "the classes of the source have changed", Err: fmt.Errorf("%s has another %s, or none", name, f.Name),
				Suggestion: "try again in a minute. get_schema shows the fields then"}
		}
	}
	return nil
}

// text returns the member of an object called name if it is a text, and "" otherwise.
func text(v value.Value, name string) string {
	member, _ := v.Get(name)
	if member.Kind() != value.String {
		return ""
	}
	return member.Text()
}

// types maps Parse's types to schema types. A Relation becomes a separate class. See relations.
var types = map[string]schema.Type{"String": schema.String, "Number": schema.Double, "Boolean": schema.Boolean, "Date": schema.Date, "Pointer": schema.String,
	"Array": schema.Array, "Object": schema.JSON, "File": schema.JSON, "GeoPoint": schema.JSON, "Polygon": schema.JSON, "Bytes": schema.Bytes}

// class returns a class from its description in /schemas, and warnings about omitted parts.
func (s *Source) class(described value.Value) (schema.Class, []string) {
	c := schema.Class{Source: s.options.Name, Name: text(described, "className"), Table: text(described, "className"), Key: []string{"objectId"}, Converts: true}
	var warnings []string
	fields, _ := described.Get("fields")
	members := slices.Clone(fields.Members())
	slices.SortFunc(members, func(a, b value.Member) int {
		if place(a.Name) != place(b.Name) {
			return place(a.Name) - place(b.Name)
		}
		return strings.Compare(a.Name, b.Name)
	})
	for _, m := range members {
		kind := text(m.Value, "type")
		t, known := types[kind]
		switch {
		case slices.Contains(secret, m.Name) || kind == "Relation" || strings.HasPrefix(m.Name, "_"):
			continue
		case !known:
			warnings = append(warnings, fmt.Sprintf("field %s.%s is left out: its type %s is not known", c.Name, m.Name, kind))
			continue
		}
		required, _ := m.Value.Get("required")
		f := schema.Field{Name: m.Name, Type: t, Native: kind, NotNull: m.Name == "objectId", Generated: place(m.Name) != 1, Required: required.Bool()}
		if standard, ok := m.Value.Get("defaultValue"); ok {
			f.Default, f.Required = standard.String(), false
		}
		c.Fields = append(c.Fields, f)
		if kind == "Pointer" {
			c.Relations = append(c.Relations, schema.Relation{Fields: []string{m.Name}, Target: text(m.Value, "targetClass"), TargetFields: []string{"objectId"}})
		}
	}
	c.Fields = append(c.Fields, schema.Field{Name: readers, Type: schema.Array, Generated: true})
	c.Guard = s.permissions(described, c.Name)
	return c, warnings
}

// place orders the fields of a class: the key first, then the other fields, then the times.
func place(field string) int {
	switch field {
	case "objectId":
		return 0
	case "createdAt", "updatedAt":
		return 2
	}
	return 1
}

// operations are the operations that class-level permissions can contain.
var operations = []schema.Operation{schema.Find, schema.Get, schema.Count, schema.Create, schema.Update, schema.Delete}

// userField is the prefix of groups in protectedFields whose members are the users in a field of the record.
const userField = "userField:"

// permissions returns the guard of a class. A field that only some records show is visible only over REST, where
// Parse Server omits it from the other records. A database would return it with all records.
func (s *Source) permissions(described value.Value, name string) *schema.Guard {
	g := &schema.Guard{As: string(s.options.As), Named: map[string][]string{}, Readers: readers, Grants: map[schema.Operation]schema.Grant{}, Protected: map[string][]string{}}
	clp, _ := described.Get("classLevelPermissions")
	for _, op := range operations {
		granted, limited := clp.Get(string(op))
		if !limited {
			continue
		}
		// A user is granted an operation if a pointer in a field of the record names the user. Groups are roles,
		// users and "*".
		var grant schema.Grant
		for _, m := range granted.Members() {
			switch {
			case m.Name == "requiresAuthentication":
				grant.Authenticated = m.Value.Bool()
			case m.Name == "pointerFields":
				grant.Users = append(grant.Users, texts(m.Value)...)
			case m.Value.Bool():
				grant.Groups = append(grant.Groups, m.Name)
			}
		}
		users := "writeUserFields"
		if op == schema.Find || op == schema.Get || op == schema.Count {
			users = "readUserFields"
		}
		if op != schema.Create {
			fields, _ := clp.Get(users)
			grant.Users = append(grant.Users, texts(fields)...)
		}
		g.Grants[op] = grant
	}
	protected, _ := clp.Get("protectedFields")
	for _, m := range protected.Members() {
		if field, named := strings.CutPrefix(m.Name, userField); !named {
			g.Protected[m.Name] = texts(m.Value)
		} else if s.direct == nil {
			g.Named[field] = texts(m.Value)
		}
	}
	if name == "_User" && s.direct == nil {
		g.Named["objectId"] = nil // users see all fields of their own record
	}
	if name == "_User" && !slices.Contains(g.Protected[schema.Everybody], "email") {
		// Parse Server's default, which /schemas doesn't contain.
		g.Protected[schema.Everybody] = append(g.Protected[schema.Everybody], "email")
	}
	return g
}

// texts returns the texts of a list.
func texts(v value.Value) []string {
	out := []string{}
	for _, e := range v.List() {
		if e.Kind() == value.String {
			out = append(out, e.Text())
		}
	}
	return out
}

// target returns the class that a pointer field references.
func (c *class) target(field string) string {
	i := slices.IndexFunc(c.Relations, func(r schema.Relation) bool { return r.Fields[0] == field })
	if i < 0 {
		return ""
	}
	return c.Relations[i].Target
}
