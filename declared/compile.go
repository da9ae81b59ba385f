package declared

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/expression"
	"github.com/bailiwick-dev/bailiwick/internal/sqlparse"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// Compile compiles declarations against the rules in force and the classes as the sources describe them. natives checks
// statements in a database's own SQL. If it is nil, they are refused. metrics are those that statements can name by
// MEASURE. If it is nil, they aren't known, and such statements aren't checked. The error joins a DeclarationFault for each
// fault.
func Compile(declared []Declaration, rules *policy.Policy, found []schema.Class, natives NativeCheck, metrics Measures) (*Set, error) {
	s := &Set{metrics: metrics}
	if len(declared) == 0 {
		return s, nil
	}
	everything, err := openRules(rules.Rules(), found)
	if err != nil {
		return nil, err
	}
	s.open = everything
	for _, c := range rules.Catalogue() {
		s.guarded = s.guarded || c.Guard != nil
	}
	var errs []error
	expressions := expression.NewCompiler()
	for _, d := range declared {
		b := builder{Query: &Query{Declaration: d}, set: s, natives: natives, expressions: expressions}
		b.call = expression.NewCallCompiler(expressions, b.wrong)
		b.build()
		if slices.ContainsFunc(s.queries, func(other *Query) bool { return other.Name == d.Name }) {
			b.wrong(nil, "another query has the name")
		}
		errs = append(errs, b.errs...)
		s.queries = append(s.queries, b.Query)
	}
	if errs != nil {
		return nil, errors.Join(errs...)
	}
	slices.SortFunc(s.queries, func(a, b *Query) int { return strings.Compare(a.Name, b.Name) })
	return s, nil
}

// openRules returns the rules without the parts that depend on who asks: tenants, canonical filters, and bounds of
// agents. Classes and fields that are hidden from everybody stay hidden.
func openRules(open policy.Rules, found []schema.Class) (*policy.Policy, error) {
	open.AgentBounds, open.APIs, open.Classes = nil, nil, maps.Clone(open.Classes)
	for name, r := range open.Classes {
		r.Tenant, r.Canonical, r.CanonicalShut = nil, nil, false
		open.Classes[name] = r
	}
	found = slices.Clone(found)
	for i := range found { // the rules change them
		found[i].Fields, found[i].Relations = slices.Clone(found[i].Fields), slices.Clone(found[i].Relations)
	}
	p, err := policy.New(open, found)
	if err != nil {
		return nil, fmt.Errorf("the rules for a check of queries: %w", err)
	}
	return p.AtMost().InAnySchema(), nil
}

// A builder compiles one declaration.
type builder struct {
	*Query
	set  *Set
	call *expression.CallCompiler
	errs []error
	used map[string]bool // the arguments that the query names

	natives     NativeCheck
	expressions *expression.Compiler // over the principal
}

func (b *builder) wrong(at []string, format string, args ...any) {
	b.errs = append(b.errs, &DeclarationFault{Query: b.Name, Key: slices.Clone(at), Message: fmt.Sprintf(format, args...)})
}

// build compiles the declaration into b.Query and reports each fault by wrong.
func (b *builder) build() {
	b.when = b.call.When(b.When, []string{"when"})
	var ok bool
	if b.input, ok = b.call.Input(b.Declaration.Input, nil, LimitArgument, CursorArgument, FormatArgument, DryRunArgument); !ok {
		return
	}
	b.arguments, b.used = b.call.Arguments, map[string]bool{}
	properties, _ := b.Declaration.Input.Get("properties")
	for _, p := range properties.Members() {
		if kind, _ := p.Value.Get("type"); kind.Text() == "array" {
			b.lists = append(b.lists, p.Name)
		}
	}
	if b.Limit < 0 || b.Limit > MaxLimit {
		b.wrong([]string{"limit"}, "must be 1 to %d", MaxLimit)
	}
	if !b.Example.IsNull() {
		if refused := problem.Of(b.arguments.Check(b.Example)); refused != nil {
			b.wrong([]string{"example"}, "%s", whyNot(refused))
		}
	}
	before := len(b.errs)
	switch forms := b.forms(); {
	case len(forms) == 0:
		b.wrong(nil, "needs one of sql, find, pipeline and native")
	case len(forms) > 1:
		b.wrong([]string{forms[1]}, "a query has one form, and this one has %s too", forms[0])
	case b.SQL != "":
		b.parseSQL()
	case !b.Find.IsNull():
		b.parseFind()
	case b.Native != "":
		b.parseNative()
	default:
		b.parsePipeline()
	}
	b.checkNativeKeys()
	if len(b.errs) > before {
		return
	}
	for _, name := range b.Arguments() {
		if !b.used[name] {
			b.wrong([]string{"input", "properties", name}, "the query doesn't use it. Remove it")
		}
	}
	if len(b.errs) == before {
		b.try()
	}
}

// forms returns the keys of the forms that are declared.
func (b *builder) forms() (keys []string) {
	if b.SQL != "" {
		keys = append(keys, "sql")
	}
	if !b.Find.IsNull() {
		keys = append(keys, "find")
	}
	if !b.Pipeline.IsNull() {
		keys = append(keys, "pipeline")
	}
	if b.Native != "" {
		keys = append(keys, "native")
	}
	return keys
}

// checkNativeKeys reports keys that belong to another form than the query has.
func (b *builder) checkNativeKeys() {
	if len(b.forms()) != 1 || b.Native != "" {
		return
	}
	if b.Source != "" && b.SQL == "" {
		b.wrong([]string{"source"}, "belongs only to sql and native. Write the class as source.Class")
	}
	if b.Returns != nil {
		b.wrong([]string{"returns"}, "belongs only to native. The gateway knows the columns of the other forms")
	}
	if !b.Declaration.Parameters.IsNull() {
		b.wrong([]string{"parameters"}, "belongs only to native. Views apply to the other forms")
	}
}

// parseSQL parses the statement and checks that its parameters are arguments.
func (b *builder) parseSQL() {
	q, err := query.ParseSQL(b.SQL)
	if err != nil {
		b.wrongText(err)
		return
	}
	q.Source, b.form = b.Source, q
	for _, p := range sqlparse.Params(q.Statement()) {
		if b.argument(p.Name) {
			continue
		}
		message := fmt.Sprintf("input has no argument %q%s", problem.Cut(p.Name), problem.DidYouMean(problem.Nearest(p.Name, b.Arguments(), 2)))
		if _, err := strconv.Atoi(p.Name); err == nil || p.Name == "?" {
			message = "write :name, with the name of an argument of input"
		}
		b.errs = append(b.errs, &DeclarationFault{Query: b.Name, Key: []string{"sql"}, Line: p.At.Line, Column: p.At.Column, Message: message})
	}
}

// argument notes that the query uses an argument, and reports whether input has it.
func (b *builder) argument(name string) bool {
	b.used[name] = true
	return slices.Contains(b.Arguments(), name)
}

var placeInText = regexp.MustCompile(`^line (\d+), column (\d+): (.*)$`)

// wrongText reports an error of a statement at its line.
func (b *builder) wrongText(err error) {
	p := problem.Of(err)
	f := &DeclarationFault{Query: b.Name, Key: []string{"sql"}, Message: whyNot(p)}
	if m := placeInText.FindStringSubmatch(f.Message); m != nil {
		f.Line, _ = strconv.Atoi(m[1])
		f.Column, _ = strconv.Atoi(m[2])
		f.Message = m[3]
	}
	b.errs = append(b.errs, f)
}

// whyNot returns the text of an error for the owner.
func whyNot(p *problem.Error) string {
	said := p.Detail
	if len(p.Near) > 0 && !strings.Contains(said, "Did you mean") {
		said += problem.DidYouMean(p.Near)
	}
	if p.Suggestion != "" && len(p.Near) == 0 {
		said = problem.Sentences(said, capitalize(p.Suggestion))
	}
	return said
}

var lowerWord = regexp.MustCompile(`^[a-z]+ `)

// capitalize returns a sentence that begins with a capital, unless it begins with something that isn't a plain word.
func capitalize(sentence string) string {
	if !lowerWord.MatchString(sentence) {
		return sentence
	}
	return strings.ToUpper(sentence[:1]) + sentence[1:]
}

// keys checks the members of the declaration of a form.
func (b *builder) keys(form string, v value.Value, names ...string) bool {
	before := len(b.errs)
	for _, m := range v.Members() {
		if !slices.Contains(names, m.Name) {
			b.wrong([]string{form, m.Name}, "unknown key%s", problem.DidYouMean(problem.Nearest(m.Name, names, 2)))
		}
	}
	if class, _ := v.Get("class"); class.Kind() != value.String || class.Text() == "" {
		b.wrong([]string{form}, "needs class, the name of a class")
	}
	return len(b.errs) == before
}

// parseFind parses the find with placeholders for arguments.
func (b *builder) parseFind() {
	if !b.keys("find", b.Find, "class", "where", "keys", "include", "order", "skip") {
		return
	}
	text := func(key string) string {
		v, _ := b.Find.Get(key)
		return v.Text()
	}
	q := &query.Find{Class: text("class"), Lean: true}
	skip, _ := b.Find.Get("skip")
	q.Skip = int(skip.Int())
	var err error
	if q.Order, err = query.ParseOrder(text("order"), "/order"); err != nil {
		b.wrongAt("find", err)
	}
	q.Keys, q.Include = b.paths("keys"), b.paths("include")
	if where, ok := b.Find.Get("where"); ok {
		where, n := b.places(where, "find", "where")
		if q.Where, err = query.ParseWhere(where, "/where"); err != nil {
			b.wrongAt("find", err)
		} else if places(q.Where) != n {
			b.wrong([]string{"find", "where"}, misplaced)
		}
	}
	b.form = q
}

// paths returns a list of paths of a find.
func (b *builder) paths(key string) (out []query.Path) {
	list, _ := b.Find.Get(key)
	for i, v := range list.List() {
		path, err := query.CheckPath(v.Text(), fmt.Sprintf("/%s/%d", key, i))
		if err != nil {
			b.wrongAt("find", err)
		}
		out = append(out, path)
	}
	return out
}

// parsePipeline parses the pipeline with placeholders for arguments.
func (b *builder) parsePipeline() {
	if !b.keys("pipeline", b.Pipeline, "class", "stages") {
		return
	}
	class, _ := b.Pipeline.Get("class")
	stages, _ := b.Pipeline.Get("stages")
	stages, n := b.places(stages, "pipeline", "stages")
	q := &query.Pipeline{Class: class.Text()}
	var err error
	if q.Stages, err = query.ParsePipeline(stages, "/stages"); err != nil {
		b.wrongAt("pipeline", err)
	} else if places(q.Stages) != n {
		b.wrong([]string{"pipeline", "stages"}, misplaced)
	}
	b.form = q
}

const misplaced = "$input stands for a value that is compared or computed with. It can't be a name, a path, a pattern or a number of records"

// places returns v with placeholders for its arguments, and their number.
func (b *builder) places(v value.Value, at ...string) (out value.Value, n int) {
	out = withPlaceholders(v, at, func(name value.Value, at []string) value.Value {
		n++
		if !b.argument(name.Text()) || name.Text() == "" {
			b.wrong(at, "input has no argument %q%s", problem.Cut(name.Text()), problem.DidYouMean(problem.Nearest(name.Text(), b.Arguments(), 2)))
		}
		return placeholder(name.Text(), slices.Contains(b.lists, name.Text()))
	})
	return out, n
}

// wrongAt reports an error of a find or a pipeline at its pointer.
func (b *builder) wrongAt(form string, err error) {
	p := problem.Of(err)
	at := []string{form}
	for _, part := range strings.Split(strings.Trim(p.Pointer, "/"), "/") {
		if part != "" {
			at = append(at, strings.NewReplacer("~1", "/", "~0", "~").Replace(part))
		}
	}
	said := strings.NewReplacer(placeBegin, "{$input: ", placeEnd, "}").Replace(whyNot(p))
	b.wrong(at, "%s", said)
}

// try binds the query against views of everything, with sample arguments: once with all of them, and once with null for
// those that calls may leave out. So names that don't exist and types that don't fit are faults of the configuration.
func (b *builder) try() {
	all, required := samples(b.Declaration.Input, b.Example)
	b.sample = all
	if b.Native != "" {
		return // only the database can tell
	}
	if q, ok := b.form.(*query.SQL); ok && b.set.metrics == nil && strings.Contains(strings.ToLower(q.Text), "measure") {
		return // the faults of the metrics are reported
	}
	for _, in := range []value.Value{all, required} {
		asked, err := b.ask(checker(), b.arguments.WithDefaults(in), Page{Limit: 1})
		if err == nil {
			err = b.checkRead(asked)
		}
		if err == nil {
			continue
		}
		p := *problem.Of(err)
		if len(in.Members()) > 0 && len(p.Near) == 0 {
			p.Detail = problem.Sentences(p.Detail, "Checked with the arguments "+in.String())
		}
		switch {
		case b.SQL != "":
			b.wrongText(&p)
		case p.Pointer == "/class_name":
			p.Pointer = "/class"
			fallthrough
		default:
			p.Pointer = strings.Replace(p.Pointer, "/pipeline/", "/stages/", 1)
			b.wrongAt(b.forms()[0], &p)
		}
		return
	}
}

// checkRead checks that a principal that sees everything can read what a query asks, and notes its class.
func (b *builder) checkRead(asked query.Query) error {
	permit, err := b.set.openly(asked)
	if err != nil {
		return err
	}
	plan, err := permit.Plan()
	if err == nil {
		b.class = plan.View.Class().FullName()
	}
	return err
}

func itoa(i int) string { return strconv.Itoa(i) }
