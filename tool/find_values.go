package tool

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/internal/result"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// The limits of find_values.
const (
	findRecords = 20_000          // of a class, in order of the key, searched without an index
	findMatches = 50              // records of a class that are read per kind of match
	findClasses = 100             // in one call
	findTime    = 8 * time.Second // in one call
	findClass   = 2 * time.Second // for one class
)

// findValues returns the tool that finds the classes and fields with a value.
func findValues() Tool {
	return Tool{
		Name:        "find_values",
		Title:       "Find a value",
		Description: "Which classes and fields hold a value: as written, in another case, with other accents or spaces, or at the beginning.",
		Input: compact(`{"type": "object", "additionalProperties": false, "required": ["text"], "properties": {
			"text": {"type": "string", "minLength": 1, "maxLength": 200},
			"class_names": {"type": "array", "maxItems": 100, "items": {"type": "string"}}}}`),
		Output: compact(`{"type": "object", "required": ["found"], "properties": {
			"found": {"type": "array", "items": {"type": "object"}},
			"bounds": {"type": "array", "items": {"type": "string"}}}}`),
		Annotations: reads(),
		Category:    Query,
		Timeout:     queryTimeout,
		Handle: func(ctx context.Context, c *bailiwick.Call, in value.Value) (Result, error) {
			args := arguments{in}
			views, err := viewsToSearch(c, args.texts("class_names"))
			if err != nil {
				return Result{}, err
			}
			notes := len(c.Notes())
			s := &search{call: c, text: args.text("text"), until: time.Now().Add(findTime)}
			for i, v := range views {
				if i == findClasses || time.Now().After(s.until) {
					s.noteLimit("not searched: " + namesOf(views[i:]) + "; name them in class_names to go on")
					break
				}
				if err := s.class(ctx, v); err != nil {
					return Result{}, err
				}
			}
			c.Forget(notes)
			return s.result(), nil
		},
	}
}

// viewsToSearch returns the views with records to search: those in names, or all.
func viewsToSearch(c *bailiwick.Call, names []string) ([]*policy.View, error) {
	views := slices.DeleteFunc(slices.Clone(c.Views()), func(v *policy.View) bool { return v.Class().Recordless })
	if names == nil {
		return views, nil
	}
	views = nil
	for i, name := range names {
		v, err := c.View(name)
		if err != nil {
			return nil, problem.Of(err).MapPointers(func(string) string { return query.Pointer("/class_names", fmt.Sprint(i)) })
		}
		views = append(views, v)
	}
	return views, nil
}

// namesOf returns the names of views, at most twenty.
func namesOf(views []*policy.View) string {
	var names []string
	for _, v := range views[:min(len(views), 20)] {
		names = append(names, v.Name())
	}
	out := strings.Join(names, ", ")
	if n := len(views) - len(names); n > 0 {
		out += fmt.Sprintf(" and %d more", n)
	}
	return out
}

// A search finds one text.
type search struct {
	call   *bailiwick.Call
	text   string
	until  time.Time
	hits   []hit
	bounds []string
	fields int // number of fields that were searched in every way
}

// A hit is a field with the text in one spelling.
type hit struct {
	class, field string
	how          spelling
	values       []string // the found values, at most three
	records      int
	more         bool // there may be more records
}

// noteLimit adds a text about data that was not searched.
func (s *search) noteLimit(text string) { s.bounds = append(s.bounds, text) }

// class searches one class: first with indexes, then in its first records by key.
func (s *search) class(ctx context.Context, v *policy.View) error {
	var fields []*schema.Field
	for _, f := range v.Fields() {
		if _, ok := s.operand(v, f); ok {
			fields = append(fields, f)
		}
	}
	if fields == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, min(findClass, time.Until(s.until)))
	defer cancel()
	found := map[string]*hit{}
	var rest []*schema.Field
	for _, f := range fields {
		want, _ := s.operand(v, f)
		q := &query.Find{Class: v.Class().FullName(), Where: query.Compare{Path: query.Path{f.Name}, Op: query.Eq, Value: want, At: "/text"}, Keys: []query.Path{{f.Name}}, Limit: findMatches + 1}
		if a, err := s.call.Access(q); err != nil || a.Scan {
			rest = append(rest, f)
			continue
		}
		page, err := s.call.Read(ctx, q)
		if err != nil {
			rest = append(rest, f)
			continue
		}
		if page.Count > 0 {
			add(found, hit{v.Name(), f.Name, exact, []string{s.text}, min(page.Count, findMatches), page.Count > findMatches || page.More})
		}
	}
	err := s.through(ctx, v, fields, rest, found)
	for _, h := range found {
		s.hits = append(s.hits, *h)
	}
	return err
}

// operand returns the value with which a field is compared, and whether the field is searched. A searched field has a
// type that the text may have, and a condition may name it.
func (s *search) operand(v *policy.View, f *schema.Field) (value.Value, bool) {
	if v.Mask(f.Name) != nil || v.Large(f.Name) {
		return value.Value{}, false
	}
	switch f.Type {
	case schema.String:
		return value.OfString(s.text), true
	case schema.UUID:
		return value.OfUUIDText(s.text)
	case schema.Integer:
		n, err := value.Read([]byte(s.text), 0)
		return n, err == nil && n.Kind() == value.Int
	}
	return value.Value{}, false
}

// through searches the first records of v by key. It searches the fields in rest, which no index serves, for exact
// values, and all text fields for other spellings.
func (s *search) through(ctx context.Context, v *policy.View, fields, rest []*schema.Field, found map[string]*hit) error {
	var same, like []value.Value
	for _, f := range rest {
		want, _ := s.operand(v, f)
		same = append(same, value.OfObject([]value.Member{member(f.Name, value.OfObject([]value.Member{member("$eq", want)}))}))
	}
	pattern := loosely(s.text)
	for _, f := range fields {
		if f.Type == schema.String && pattern != "" {
			like = append(like, value.OfObject([]value.Member{member(f.Name, value.OfObject([]value.Member{text("$regex", pattern), text("$options", "i")}))}))
		}
	}
	if same == nil && like == nil {
		s.fields += len(fields)
		return nil
	}
	n, err := s.count(ctx, v)
	done := "only fields with an index were searched, for the exact value"
	var exactly, loose map[string]*hit
	if err == nil && same != nil {
		exactly, err = s.matching(ctx, v, fields, same)
		maps.DeleteFunc(exactly, func(_ string, h *hit) bool { return h.how != exact }) // more records may have another spelling
	}
	if err == nil && like != nil {
		done = "only the exact value was looked for"
		loose, err = s.matching(ctx, v, fields, like)
	}
	for _, counted := range []map[string]*hit{exactly, loose} {
		for key, h := range counted {
			if found[key] == nil {
				h.more = h.more || n > findRecords
				found[key] = h
			}
		}
	}
	if err == nil {
		s.fields += len(fields)
	}
	switch {
	case err == nil && n > findRecords:
		s.noteLimit(fmt.Sprintf("of %s, the first %d records by key were looked through. Beyond them only fields with an index were searched, for the exact value", v.Name(), findRecords))
	case err != nil && ctx.Err() != nil:
		s.noteLimit("of " + v.Name() + ", " + done + ": the time was over")
	case err != nil && problem.CodeOf(err) == problem.Internal:
		return err
	case err != nil:
		s.noteLimit("of " + v.Name() + ", " + done)
	}
	return nil
}

// count returns the number of records of v, at most one more than through searches.
func (s *search) count(ctx context.Context, v *policy.View) (int64, error) {
	page, err := s.pipeline(ctx, v, fmt.Sprintf(`[{"$limit": %d}, {"$count": "n"}]`, findRecords+1), 1)
	if err != nil || page.Count == 0 {
		return 0, err
	}
	n, _ := page.Values(0)[0].AsInt()
	return n, nil
}

// matching finds the records that satisfy one of the conditions, among the first records of v. It returns their fields
// with the text.
func (s *search) matching(ctx context.Context, v *policy.View, fields []*schema.Field, conditions []value.Value) (map[string]*hit, error) {
	shown := make([]value.Member, len(fields))
	for i, f := range fields {
		shown[i] = member(f.Name, value.OfInt(1))
	}
	stages := fmt.Sprintf(`[{"$limit": %d}, {"$match": {"$or": %s}}, {"$limit": %d}, {"$project": %s}]`, findRecords, value.OfArray(conditions), findMatches+1, value.OfObject(shown))
	page, err := s.pipeline(ctx, v, stages, findMatches+1)
	if err != nil {
		return nil, err
	}
	if page.Count > findMatches {
		s.noteLimit(fmt.Sprintf("of %s, the first %d records that match were looked at. More of its fields may hold it", v.Name(), findMatches))
	}
	counted := map[string]*hit{}
	for i := range min(page.Count, findMatches) {
		for j, cell := range page.Values(i) {
			name := page.Columns[j]
			k := slices.IndexFunc(fields, func(f *schema.Field) bool { return f.Name == name })
			if k < 0 || cell.IsNull() {
				continue
			}
			written := cell.Text()
			if cell.Kind() != value.String {
				written = cell.String()
			}
			how := compare(s.text, written)
			if want, _ := s.operand(v, fields[k]); fields[k].Type != schema.String {
				if how = noSpelling; value.Equal(want, cell) || strings.EqualFold(written, s.text) {
					how = exact
				}
			}
			if how != noSpelling {
				add(counted, hit{v.Name(), name, how, []string{problem.Cut(written)}, 1, page.Count > findMatches})
			}
		}
	}
	return counted, nil
}

// pipeline runs stages over v.
func (s *search) pipeline(ctx context.Context, v *policy.View, stages string, limit int) (page *result.Page, err error) {
	doc, err := value.Read([]byte(stages), 0)
	if err != nil {
		return page, err
	}
	q := &query.Pipeline{Class: v.Class().FullName(), Limit: limit}
	if q.Stages, err = query.ParsePipeline(doc, "/text"); err != nil {
		return page, err
	}
	return s.call.Aggregate(ctx, q)
}

// add adds one hit to the other hits of its field and spelling.
func add(found map[string]*hit, one hit) {
	key := fmt.Sprint(one.field, " ", int(one.how))
	h := found[key]
	if h == nil {
		found[key] = &one
		return
	}
	h.records += one.records
	h.more = h.more || one.more
	if len(h.values) < 3 && !slices.Contains(h.values, one.values[0]) {
		h.values = append(h.values, one.values[0])
	}
}

// result returns the hits, the nearest spelling first, and the bounds of the search.
func (s *search) result() Result {
	slices.SortFunc(s.hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(a.how, b.how), cmp.Compare(a.class, b.class), cmp.Compare(a.field, b.field))
	})
	words := []string{"exact", "other spelling", "begins with it"}
	var lines []string
	found := make([]value.Value, len(s.hits))
	for i, h := range s.hits {
		slices.Sort(h.values)
		count := many(h.records, "record", "records")
		members := []value.Member{text("class_name", h.class), text("field", h.field), text("match", words[h.how]), member("values", list(h.values)), member("records", value.OfInt(int64(h.records)))}
		if h.more {
			count = "at least " + count
			members = append(members, member("more", value.OfBool(true)))
		}
		found[i] = value.OfObject(members)
		lines = append(lines, fmt.Sprintf("%s.%s: %s, %s: %s", h.class, h.field, words[h.how], count, list(h.values)))
	}
	if lines == nil {
		lines = append(lines, "no field that was searched holds it")
	}
	lines = append(lines, s.bounds...)
	lines = append(lines, fmt.Sprintf("searched %s that you see, for the whole value and its beginning", many(s.fields, "field", "fields")))
	doc := []value.Member{member("found", value.OfArray(found)), member("searched_fields", value.OfInt(int64(s.fields)))}
	if s.bounds != nil {
		doc = append(doc, member("bounds", list(s.bounds)))
	}
	return Result{Structured: value.OfObject(doc).AppendJSON(nil), Text: strings.Join(lines, "\n")}
}
