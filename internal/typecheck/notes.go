package typecheck

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// What a condition says that its writer may not have meant is noted here, of callers' filters alone: those of rules mean
// what they say. All notes come from the query and from what get_schema tells of the view.

// say adds a note once; "" is none.
func (b *filters) say(note string) {
	if note != "" && !slices.Contains(b.notes, note) {
		b.notes = append(b.notes, note)
	}
}

// maxListed is how many allowed values a note names.
const maxListed = 12

// listed notes the values that a field with a list of allowed values never has.
func (b *filters) listed(at string, f *schema.Field, path query.Path, equality bool, values ...value.Value) {
	if !equality || b.relations == nil || len(path) > 1 || f.Type.Structured() {
		return
	}
	allowed := b.scope.Allowed(path[0])
	if allowed == nil {
		return
	}
	for _, v := range values {
		text := v.String()
		if v.IsNull() || v.Kind() == value.Object || slices.Contains(allowed, text) {
			continue
		}
		near := problem.Nearest(text, allowed, 3)
		if i := slices.IndexFunc(allowed, func(a string) bool { return strings.EqualFold(a, text) }); i >= 0 {
			near = allowed[i : i+1]
		}
		known := strings.Join(allowed[:min(len(allowed), maxListed)], ", ")
		if len(allowed) > maxListed {
			known += ", … (get_schema has all)"
		}
		b.say(fmt.Sprintf("%s: %q is none of the values of %s%s; they are %s", at, problem.Cut(text), f.Name, problem.DidYouMean(near), known))
	}
}

// slashed notes a regular expression that is written between slashes, which it takes for themselves.
func (b *filters) slashed(f query.Regex) {
	end := strings.LastIndexByte(f.Pattern, '/')
	if b.relations == nil || end < 1 || f.Pattern[0] != '/' || strings.Trim(f.Pattern[end+1:], "gimsuxy") != "" {
		return
	}
	instead := fmt.Sprintf(`{"$regex": %q`, f.Pattern[1:end])
	if strings.Contains(f.Pattern[end+1:], "i") {
		instead += `, "$options": "i"`
	}
	b.say(fmt.Sprintf("%s: the slashes of %s are looked for as well; without them it is %s}", f.At, f.Pattern, instead))
}

// day reports whether an instant is compared with a bare day, and the midnight in UTC that this begins with.
func (b *filters) day(at string, f *schema.Field, path query.Path, v value.Value) (time.Time, bool) {
	if b.relations == nil || f.Type != schema.Date || len(path) > 1 || v.Kind() != value.String {
		return time.Time{}, false
	}
	day, ok := value.OfDateText(v.Text())
	if !ok || day.Kind() != value.Day {
		return time.Time{}, false
	}
	b.say(fmt.Sprintf("%s: %s is the whole day in UTC", at, v.Text()))
	return time.UnixMicro(day.Micros()).UTC(), true
}

// whole is a comparison with all of a day.
func whole(c query.Compare, day time.Time) query.Filter {
	begin, end := c, c
	begin.Op, begin.Value = query.Gte, value.OfTime(day)
	end.Op, end.Value = query.Lt, value.OfTime(day.AddDate(0, 0, 1))
	switch c.Op {
	case query.Eq:
		return query.And{begin, end}
	case query.Ne:
		return query.Not{Part: query.And{begin, end}}
	case query.Gt: // after the day
		end.Op = query.Gte
		return end
	case query.Lte:
		return end
	case query.Lt:
		begin.Op = query.Lt
	}
	return begin
}

// pointed returns the id in a pointer to a record of class that is written as {"objectId": id}, {"id": id} or "class$id".
func pointed(class string, v value.Value) value.Value {
	if members := v.Members(); len(members) == 1 && slices.Contains([]string{"objectId", "id", "_id"}, members[0].Name) {
		return members[0].Value
	}
	if id, ok := strings.CutPrefix(v.Text(), class+"$"); ok && v.Kind() == value.String && id != "" {
		return value.OfString(id)
	}
	return v
}
