package sourcetest

import (
	"testing"

	"github.com/bailiwick-dev/bailiwick/mask"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/redact"
	"github.com/bailiwick-dev/bailiwick/value"
)

// masks tests what leaves of masked fields: the source gives them raw, in whatever kind of value it has, and redact masks.
func (s *subject) masks(t *testing.T) {
	rules := map[string]policy.ClassRule{
		"orgs":     {Mask: map[string]policy.Mask{"name": policy.Partial, "settings": policy.Null}},
		"users":    {Mask: map[string]policy.Mask{"name": policy.Null}},
		"comments": {Mask: map[string]policy.Mask{"body": policy.Partial, "hidden": policy.Null}},
	}
	keyless := map[string]policy.ClassRule{"orgs": {Denied: []string{"id"}, Mask: map[string]policy.Mask{"name": policy.Null, "settings": policy.Null}}}
	for _, tt := range []struct {
		rules                       map[string]policy.ClassRule
		class, keys, include, where string
		rows                        []string
	}{
		{rules, "orgs", "", "", "", []string{"ACME,O•••,null", "acme,A•••,null", "globex,G•••,null"}},
		{rules, "orgs", "settings.plan,name", "", `{"id":"acme"}`, []string{"acme,null,A•••"}},
		{rules, "users", "name,org.name", "", `{"id":{"$lte":3}}`, []string{"1,null,acme,acme,A•••", "2,null,acme,acme,A•••", "3,null,globex,globex,G•••"}},
		{rules, "comments", "body,hidden", "author", `{"id":{"$in":[1,3,6]}}`, []string{"1,•••,null,1,1,null,acme,null", "3,t•••,null,3,3,null,globex,2", "6,•••,null,null,null,null,null,null"}},
		{keyless, "orgs", "", "", "", []string{"null,null", "null,null", "null,null"}},
	} {
		q := &query.Find{Class: tt.class, Keys: paths(tt.keys), Include: paths(tt.include), Where: where(t, tt.where), Limit: 100}
		rows, err := s.leave(t, s.rules(t, tt.rules), q)
		if err != nil || len(rows) != len(tt.rows) {
			t.Errorf("%s keys %s include %s: %d rows, %v; want %d", tt.class, tt.keys, tt.include, len(rows), err, len(tt.rows))
			continue
		}
		for i, row := range rows {
			if got := line(row); got != tt.rows[i] {
				t.Errorf("%s keys %s include %s, record %d:\n got %s\nwant %s", tt.class, tt.keys, tt.include, i, got, tt.rows[i])
			}
		}
	}
	s.hashes(t)
}

// hashes tests that every type that can be hashed is: the same for the same values, and never the value itself.
func (s *subject) hashes(t *testing.T) {
	t.Helper()
	for _, tt := range []struct{ class, field string }{
		{"comments", "body"}, {"comments", "stars"}, {"numbers", "n"}, {"numbers", "d"}, {"texts", "s"}, {"times", "at"}, {"times", "day"}, {"kinds", "u"}, {"kinds", "raw"},
	} {
		if _, lacks := s.limits[ExactDecimals]; lacks && tt.field == "d" {
			continue // they are doubles there
		}
		q := &query.Find{Class: tt.class, Keys: paths(tt.field), Limit: 100}
		_, raw, err := s.read(t.Context(), s.policy, reader, q)
		if err != nil {
			t.Errorf("%s.%s: %v", tt.class, tt.field, err)
			continue
		}
		p := s.rules(t, map[string]policy.ClassRule{tt.class: {Mask: map[string]policy.Mask{tt.field: policy.Hash}}})
		hashed, err := s.leave(t, p, q)
		if err != nil || len(hashed) != len(raw) {
			t.Errorf("%s.%s hashed: %d rows, %v; want %d", tt.class, tt.field, len(hashed), err, len(raw))
			continue
		}
		for i, row := range hashed {
			if got := row[1]; got.IsNull() != raw[i][1].IsNull() || !got.IsNull() && len(got.Text()) != 16 {
				t.Errorf("%s.%s: %v leaves as %v", tt.class, tt.field, raw[i][1], got)
			}
			for j := range i {
				if same := value.Equal(raw[i][1], raw[j][1]); same != value.Equal(row[1], hashed[j][1]) {
					t.Errorf("%s.%s: %v and %v leave as %v and %v", tt.class, tt.field, raw[i][1], raw[j][1], row[1], hashed[j][1])
				}
			}
		}
	}
}

// leave reads all rows of q as they leave.
func (s *subject) leave(t *testing.T, p *policy.Policy, q query.Query) ([]value.Row, error) {
	t.Helper()
	permit, err := p.Read(reader, q)
	if err != nil {
		return nil, err
	}
	raw, err := s.source.Read(t.Context(), permit)
	if err != nil {
		return nil, err
	}
	rows, err := redact.Apply(permit, mask.NewKey([]byte("secret")), raw)
	if err != nil {
		return nil, err
	}
	var out []value.Row
	for row, err := range rows.All() {
		if err != nil {
			return out, err
		}
		out = append(out, append(value.Row{}, row.Values...))
	}
	return out, nil
}
