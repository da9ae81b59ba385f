package parse_test

import (
	"bytes"
	"context"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/source/memory"
	"github.com/bailiwick-dev/bailiwick/source/parse"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest/masks"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest/pipelines"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest/questions"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest/statements"
	"github.com/bailiwick-dev/bailiwick/value"
)

// suiteLimits are the values that Parse Server can't store.
var suiteLimits = sourcetest.Limits{
	sourcetest.Untyped:       "a column has a type",
	sourcetest.NaN:           "JSON has none",
	sourcetest.Infinities:    "JSON has none",
	sourcetest.ExactDecimals: "a Number is a double",
	sourcetest.WideIntegers:  "a Number is a double",
	sourcetest.JSONDigits:    "a Number is a double",
	sourcetest.Microseconds:  "dates count milliseconds",
	sourcetest.OddNames:      "names are letters and digits",
	sourcetest.DottedKeys:    "it refuses them",
	sourcetest.Conversions:   "its values have types",
	sourcetest.Days:          "it has dates alone",
	sourcetest.UUIDs:         "they are texts",
	sourcetest.EmptyBytes:    "it refuses them",
	sourcetest.MixedJSON:     "an Object holds objects, an Array lists",
}

// suiteTypes maps the types of the suite to Parse's types.
var suiteTypes = map[schema.Type]string{schema.String: "String", schema.UUID: "String", schema.Integer: "Number", schema.Double: "Number", schema.Decimal: "Number",
	schema.Boolean: "Boolean", schema.Date: "Date", schema.Day: "Date", schema.Bytes: "Bytes", schema.Array: "Array", schema.JSON: "Array"}

// A suited is a source over the classes of the suite. The classes have only the keys, relations and fields of the
// suite's tables, without the fields that Parse Server adds.
type suited struct {
	*parse.Source
	classes []schema.Class
}

func (s suited) Describe(ctx context.Context) ([]schema.Class, []string, error) {
	_, warnings, err := s.Source.Describe(ctx)
	return s.classes, warnings, err
}

// stored returns the name of a field in Parse Server, which doesn't allow the name id.
func stored(name string) string {
	if name == "id" {
		return "idOf"
	}
	return name
}

// renaming starts a proxy in front of Parse Server that renames the field idOf to id.
func renaming(t *testing.T, s *server) string {
	to, err := url.Parse(strings.TrimSuffix(s.URL(), "/parse"))
	if err != nil {
		t.Fatal(err)
	}
	rename := func(q url.Values) url.Values {
		if q.Has("where") {
			q.Set("where", strings.ReplaceAll(q.Get("where"), `"id"`, `"idOf"`))
		}
		for _, list := range []string{"keys", "order"} {
			names := strings.Split(q.Get(list), ",")
			for i, n := range names {
				names[i] = map[string]string{"id": "idOf", "-id": "-idOf"}[n]
				if names[i] == "" {
					names[i] = n
				}
			}
			if q.Has(list) {
				q.Set(list, strings.Join(names, ","))
			}
		}
		return q
	}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(to)
			r.Out.Header.Set("Accept-Encoding", "identity")
			r.Out.URL.RawQuery = rename(r.In.URL.Query()).Encode()
			if r.In.Header.Get("Content-Type") == "application/x-www-form-urlencoded" {
				sent, _ := io.ReadAll(r.In.Body)
				form, _ := url.ParseQuery(string(sent))
				body := rename(form).Encode()
				r.Out.Body, r.Out.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
			}
		},
		ModifyResponse: func(r *http.Response) error {
			answer, err := io.ReadAll(r.Body)
			answer = bytes.ReplaceAll(answer, []byte(`"idOf":`), []byte(`"id":`))
			r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(answer)), int64(len(answer))
			r.Header.Set("Content-Length", strconv.Itoa(len(answer)))
			return err
		}}
	front := httptest.NewServer(&remembering{next: proxy, answers: map[string]*httptest.ResponseRecorder{}})
	t.Cleanup(front.Close)
	return front.URL + "/parse"
}

// remembering is a handler that forwards each request only once. The records don't change while the suite reads, and
// most of its random queries cause the same requests.
type remembering struct {
	next    http.Handler
	mu      sync.Mutex
	answers map[string]*httptest.ResponseRecorder // by request
}

func (m *remembering) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	key := r.Method + " " + r.URL.String() + " " + string(body)
	m.mu.Lock()
	known := m.answers[key]
	m.mu.Unlock()
	if known == nil {
		known = httptest.NewRecorder()
		m.next.ServeHTTP(known, r)
		if known.Code == http.StatusOK {
			m.mu.Lock()
			m.answers[key] = known
			m.mu.Unlock()
		}
	}
	maps.Copy(w.Header(), known.Header())
	w.WriteHeader(known.Code)
	w.Write(known.Body.Bytes())
}

// openSuite creates the tables of a dataset in Parse Server, and removes them when the test ends.
func openSuite(t *testing.T, d sourcetest.Dataset) source.Source {
	return openTyped(t, d.Leave(t, suiteLimits), nil)
}

// openTyped is like openSuite, for fields that Parse Server stores with other types, as declared by rules.
func openTyped(t *testing.T, d sourcetest.Dataset, rules map[string]policy.ClassRule) source.Source {
	t.Helper()
	s := start(t)
	out := suited{classes: d.Classes("suite")}
	native := func(c *schema.Class, rows []value.Row, at int) string {
		if c.Fields[at].Type == schema.JSON && slices.ContainsFunc(rows, func(r value.Row) bool { return r[at].Kind() == value.Object }) {
			return "Object"
		}
		return suiteTypes[c.Fields[at].Type]
	}
	given := map[string]schema.Type{"String": schema.String, "Number": schema.Double, "Boolean": schema.Boolean, "Date": schema.Date, "Bytes": schema.Bytes, "Array": schema.Array, "Object": schema.JSON}
	written := d.Rows(t, out.classes)
	for i := range out.classes {
		c := &out.classes[i]
		fields := object{}
		for at := range c.Fields {
			f := &c.Fields[at]
			f.Native = native(c, written[c.Name], at)
			fields[stored(f.Name)] = object{"type": f.Native}
			if form, ok := rules[c.Name].Types[f.Name]; ok {
				f.Native = map[bool]string{true: "Date", false: "String"}[form == schema.Midnight]
				fields[stored(f.Name)] = object{"type": f.Native}
			}
			if f.Type != schema.Integer && (f.Native != "String" || f.Type != schema.JSON) { // for a Number that is whole in all records, and for a text of JSON
				f.Type = given[f.Native]
			}
			if f.Type == schema.Double {
				f.Native = "double" // tells the suite that the field has no infinities
			}
		}
		s.must("POST", "/schemas/"+c.Name, object{"className": c.Name, "fields": fields})
		name := c.Name // the classes are sorted below
		t.Cleanup(func() {
			s.must("DELETE", "/purge/"+name, nil)
			s.must("DELETE", "/schemas/"+name, nil)
		})
		for _, row := range d.Rows(t, out.classes)[c.Name] {
			record := object{}
			for at, v := range row {
				switch name := stored(c.Fields[at].Name); {
				case v.IsNull():
				case c.Fields[at].Native == "Date":
					record[name] = object{"__type": "Date", "iso": v.String()}
				case rules[c.Name].Types[c.Fields[at].Name] == schema.JSONText:
					record[name] = string(v.AppendJSON(nil))
				case c.Fields[at].Native == "String":
					record[name] = v.String()
				case c.Fields[at].Native == "Bytes":
					record[name] = object{"__type": "Bytes", "base64": v.String()}
				default:
					record[name] = v
				}
			}
			status, made := s.ask("POST", "/classes/"+c.Name, record, "X-Parse-Master-Key: "+s.MasterKey)
			if status != http.StatusCreated {
				t.Errorf("%s %v: %d %v", c.Name, record, status, made)
			}
		}
		for at := range c.Fields {
			if f := &c.Fields[at]; f.Native == "String" {
				f.Type = schema.String
			}
		}
	}
	slices.SortFunc(out.classes, func(a, b schema.Class) int { return slices.Compare([]string{a.Name}, []string{b.Name}) })
	o, _ := s.options("master")
	o.Name, o.URL, o.LocalRows = "suite", renaming(t, s), 100_000
	src, err := parse.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { src.Close() })
	out.Source = src
	return out
}

func oracle(classes []schema.Class, rows map[string][]value.Row) source.Source {
	return memory.New(classes, rows)
}

// shows returns "", because a query consists of several requests.
func shows(policy.Permit) string { return "" }

// TestSuiteDifferential runs random queries over the classes of the suite.
func TestSuiteDifferential(t *testing.T) {
	sourcetest.Differential(t, openSuite, suiteLimits, oracle, shows)
}

// TestSuitePipelines runs random pipelines over the classes of the suite.
func TestSuitePipelines(t *testing.T) {
	pipelines.Differential(t, pipelines.Target{Open: openSuite, Tables: suiteLimits, Oracle: oracle, Show: shows})
}

// TestSuiteQuestions runs the analytical questions, which have the same answers on every source. Numbers beyond 2^53
// and JSON of all kinds are texts, and days are dates.
func TestSuiteQuestions(t *testing.T) {
	rules := map[string]policy.ClassRule{
		"customers": {Types: map[string]schema.Form{"signed_up": schema.Midnight}}, "employees": {Types: map[string]schema.Form{"hired_on": schema.Midnight}},
		"products": {Types: map[string]schema.Form{"attributes": schema.JSONText}},
		"events":   {Types: map[string]schema.Form{"n": schema.IntegerText, "payload": schema.JSONText}}}
	questions.Run(t, "Parse", openTyped(t, questions.Shop(t), rules), rules)
}

// TestSuiteStatements runs the statements of the suite. Parse Server and the oracle must return the same answers.
func TestSuiteStatements(t *testing.T) { statements.Alike(t, openSuite, oracle) }

// TestSuiteStatementsDifferential runs random statements.
func TestSuiteStatementsDifferential(t *testing.T) {
	statements.Differential(t, statements.Target{Open: openSuite, Oracle: oracle})
}

// TestSuiteMasks checks that masked values influence nothing.
func TestSuiteMasks(t *testing.T) {
	masks.Run(t, openSuite, suiteLimits)
}

// TestSuite runs the queries whose answers were worked out by hand.
func TestSuite(t *testing.T) { sourcetest.Run(t, openSuite, suiteLimits) }
