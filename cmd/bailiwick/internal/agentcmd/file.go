package agentcmd

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/bailiwick-dev/bailiwick/internal/yamlconf"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A file contains the questions of an evaluation file.
type file struct {
	given     map[string]who
	questions []question
}

// A who is a principal that asks questions.
type who struct{ tenant, scopes string }

// A question has exactly one expected answer: value, number, set, all, refused or proposes.
type question struct {
	id, scenario, ask, as string
	tier                  int // difficulty from 1 to 5, or 0 if not set

	value    string   // text that the answer must contain, ignoring case
	number   *float64 // nil if the expected answer isn't a number
	within   float64  // allowed difference between the answer and number
	set      []string // names, in any order
	all      []string // texts that the answer must contain
	refused  bool     // the model can't know the answer
	proposes bool     // the call must create a pending change

	never []string // texts that no answer and no result may contain
}

// parse parses a file of questions. Its errors contain line numbers.
func parse(name string, data []byte) (*file, error) {
	f := &file{given: map[string]who{}}
	given := yamlconf.Each(yamlconf.Table{Names: "principal", Of: func(name string) (yamlconf.Shape, func()) {
		var w who
		return yamlconf.Object([]yamlconf.Key{
			{Name: "tenant", Doc: "Whose records are seen", Shape: yamlconf.Words(&w.tenant)},
			{Name: "scopes", Doc: "What is allowed, such as read,write", Shape: yamlconf.Words(&w.scopes)},
		}, nil), func() { f.given[name] = w }
	}})
	questions := yamlconf.Items("questions", func(int) (yamlconf.Shape, func()) {
		var q question
		return q.shape(), func() { f.questions = append(f.questions, q) }
	})
	_, err := yamlconf.Read(name, data, yamlconf.Object([]yamlconf.Key{
		{Name: "given", Doc: "Who asks, by name", Must: true, Shape: given},
		{Name: "questions", Doc: "What is asked, and what is known of the answer", Must: true, Shape: questions},
	}, func(r *yamlconf.Reader, _ yamlconf.Node, _ string) { f.check(r) }), yamlconf.Options{})
	return f, err
}

// shape returns the shape of one question. A question must have exactly one kind of expected answer. The tolerance
// within requires number.
func (q *question) shape() yamlconf.Shape {
	var number, within value.Value
	expect := yamlconf.Object([]yamlconf.Key{
		{Name: "value", Doc: "The answer, in any case", Shape: yamlconf.Words(&q.value)},
		{Name: "number", Doc: "The answer, a number", Shape: yamlconf.Any(&number)},
		{Name: "within", Doc: "How far from number the answer may be. 0 when left out", Shape: yamlconf.Any(&within)},
		{Name: "set", Doc: "The names in the answer, in any order", Shape: yamlconf.List(&q.set, "names", nil)},
		{Name: "refused", Doc: "The answer can't be known", Shape: yamlconf.Flag(&q.refused)},
		{Name: "proposes", Doc: "A change waits afterwards", Shape: yamlconf.Flag(&q.proposes)},
	}, func(r *yamlconf.Reader, n yamlconf.Node, at string) {
		kinds := 0
		for _, is := range []bool{q.value != "", !number.IsNull(), q.set != nil, q.refused, q.proposes} {
			if is {
				kinds++
			}
		}
		v, ok := number.AsFloat()
		if q.number = &v; number.IsNull() {
			q.number, ok = nil, true
		}
		tolerance, inOrder := within.AsFloat()
		q.within = tolerance
		if kinds != 1 || !ok || !within.IsNull() && (!inOrder || tolerance < 0 || q.number == nil) {
			r.Wrong(n.Start(), at, "must have one of value, number (a number, with within where it may differ), set, refused: true and proposes: true")
		}
	})
	return yamlconf.Object([]yamlconf.Key{
		{Name: "id", Doc: "A short name", Must: true, Shape: yamlconf.Words(&q.id)},
		{Name: "scenario", Doc: "What the question is a case of. Results are counted by it", Must: true, Shape: yamlconf.Words(&q.scenario)},
		{Name: "tier", Doc: "How hard it is, from 1 to 5", Shape: yamlconf.Count(&q.tier, 1, 5)},
		{Name: "as", Doc: "Who asks: a name of given", Must: true, Shape: yamlconf.Words(&q.as)},
		{Name: "ask", Doc: "The question", Must: true, Shape: yamlconf.Words(&q.ask)},
		{Name: "expect", Doc: "What is known of the answer", Must: true, Shape: expect},
		{Name: "never", Doc: "Texts that must be in no answer and in no result of a call", Shape: yamlconf.List(&q.never, "texts", nil)},
	}, nil)
}

// check reports duplicate and unknown names.
func (f *file) check(r *yamlconf.Reader) {
	var ids []string
	for i, q := range f.questions {
		at := "/questions/" + strconv.Itoa(i)
		if slices.Contains(ids, q.id) {
			r.WrongAt(at+"/id", fmt.Sprintf("%q is there twice", q.id))
		}
		ids = append(ids, q.id)
		if _, ok := f.given[q.as]; !ok && q.as != "" {
			r.WrongAt(at+"/as", fmt.Sprintf("%q is not in given", q.as))
		}
	}
	if f.questions == nil && r.HasAt("/questions") {
		r.WrongAt("/questions", "names no question")
	}
}
