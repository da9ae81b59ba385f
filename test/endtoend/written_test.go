package endtoend

import (
	"fmt"
	"slices"
	"testing"

	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/bailiwick-dev/bailiwick/value"
)

// TestEqualValuesWrittenDifferently selects one of several values that are equal but written differently (0 and 0.0,
// 0 and -0). The records are stored in two orders. The returned value must not depend on the order, because hidden
// records are part of it.
func TestEqualValuesWrittenDifferently(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(*testing.T) side{
		"sqlite":   func(t *testing.T) side { return sqliteSide(t, "one", false) },
		"postgres": func(t *testing.T) side { return postgresSide(t, false) },
		"mariadb":  func(t *testing.T) side { return mariadbSide(t, false) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t)
			if err := s.puts(t, rules(false)); err != nil {
				t.Fatal(err)
			}
			w := world{}
			for i, price := range []string{"1", "0.5", "2.25", "1.0", "3", "0", "-0.125"} {
				w["readings"] = append(w["readings"], record{"id": i + 1, "org_id": "acme", "price": price})
				w["issues"] = append(w["issues"], record{"id": uuid(i + 1), "org_id": "acme", "title": "a", "estimate": []any{0.0, 1.5, -1.5}[i%3]})
			}
			other := world{}
			for class, rows := range w {
				other[class] = slices.Clone(rows)
				slices.Reverse(other[class])
			}
			var first []string
			for _, w := range []world{w, other} {
				if err := s.loads(w); err != nil {
					t.Fatal(err)
				}
				var answers []string
				for class, x := range map[string]string{"readings": `{"$subtract": ["$price", "$price"]}`, "issues": `{"$multiply": ["$estimate", {"$subtract": ["$points", "$points"]}]}`} {
					for _, by := range []string{x, map[string]string{"readings": `"$price"`, "issues": `{"$multiply": ["$estimate", 0]}`}[class]} {
						for _, stage := range []string{`{"$bucketAuto": {"groupBy": %[1]s, "buckets": 3}}`, `{"$sortByCount": %[1]s}`,
							`{"$group": {"_id": null, "least": {"$min": %[1]s}, "most": {"$max": %[1]s}, "all": {"$addToSet": %[1]s}, "half": {"$percentile": {"input": %[1]s, "p": [0, 0.5, 1]}}}}`} {
							text := fmt.Sprintf(`{"class_name": %q, "pipeline": [%s]}`, class, fmt.Sprintf(stage, by))
							args, err := value.Read([]byte(text), 0)
							if err != nil {
								t.Fatal(err)
							}
							got, _ := s.answer(profiles()[0].who, tool.Request{Name: "aggregate", Arguments: args})
							answers = append(answers, text+"\n"+got)
						}
					}
				}
				slices.Sort(answers) // the order of a map is random
				if first == nil {
					first = answers
					continue
				}
				for i := range answers {
					if answers[i] != first[i] {
						t.Errorf("in one order:\n%s\nin the other:\n%s", first[i], answers[i])
					}
				}
			}
		})
	}
}
