package agentcmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/app"
	"github.com/bailiwick-dev/bailiwick/internal/client"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/value"
)

// mostExampleRows is the maximum number of records in the answer of an example that a model is asked for.
const mostExampleRows = 20

// examples returns the examples of classes as questions. The expected answer is that of the example for the caller that
// the flags name. Examples that this caller can't ask, and answers that can't be compared, are left out with a note.
func (e *evaluation) examples(ctx context.Context) (_ *file, err error) {
	cfg, err := e.Load()
	if err != nil {
		return nil, err
	}
	asker := who{e.Tenant, e.Scopes}
	if err := e.Speak(asker.tenant, asker.scopes); err != nil {
		return nil, err
	}
	c, end, err := e.Open(ctx)
	if err != nil {
		return nil, advise(err)
	}
	defer func() { err = errors.Join(err, c.Close(), end()) }()
	f := &file{given: map[string]who{"": asker}}
	for _, example := range app.Examples(cfg) {
		q := question{id: fmt.Sprintf("%s.%d", example.Class, example.Index), scenario: example.Class, ask: example.Question}
		if why := q.expectAnswer(ctx, c, example); why != "" {
			e.Notef("%s (%s) isn't asked: %s", q.id, Line(q.ask, 60), why)
			continue
		}
		f.questions = append(f.questions, q)
	}
	if f.questions == nil {
		return nil, config.Usagef("no class has an example that can be asked. Write examples in the rules of classes, or name a FILE")
	}
	return f, ctx.Err()
}

// expectAnswer makes the answer of an example the expected one. It returns why it can't, or "".
func (q *question) expectAnswer(ctx context.Context, c *client.Client, e app.Example) string {
	a, err := c.Call(ctx, e.Tool, json.RawMessage(e.Arguments.AppendJSON(nil)))
	if err != nil {
		return err.Error()
	}
	doc, err := value.Read(a.Structured, 0)
	if err != nil {
		return "the gateway sent no structured content"
	}
	if n, ok := doc.Get("count"); ok {
		q.expectCell(n)
		return ""
	}
	rows, ok := doc.Get("results")
	more, _ := doc.Get("has_more")
	switch {
	case !ok:
		return "the answer of its tool is no list of records"
	case more.Bool() || len(rows.List()) > mostExampleRows:
		return fmt.Sprintf("its answer has more than %d records", mostExampleRows)
	}
	q.expectRows(rows.List())
	return ""
}

// expectRows expects the values of records: one value, the values of one column in any order, or all values.
func (q *question) expectRows(rows []value.Value) {
	var cells []value.Value
	columns := 0
	for _, r := range rows {
		columns = max(columns, len(r.Members()))
		for _, m := range r.Members() {
			if !m.Value.IsNull() {
				cells = append(cells, m.Value)
			}
		}
	}
	texts := make([]string, len(cells))
	for i, v := range cells {
		texts[i] = plainText(v)
	}
	switch {
	case len(cells) == 0:
		q.refused = true // the model answers "none"
	case len(cells) == 1:
		q.expectCell(cells[0])
	case columns == 1:
		q.set = texts
	default:
		q.all = texts
	}
}

// expectCell expects one value.
func (q *question) expectCell(v value.Value) {
	if n, ok := v.AsFloat(); ok {
		q.number, q.within = &n, 0.005
		return
	}
	q.value = plainText(v)
}

// plainText returns a value as a model would write it.
func plainText(v value.Value) string {
	if v.Kind() == value.String {
		return v.Text()
	}
	return v.String()
}

// hasAll reports whether an answer contains all texts, ignoring case and commas within numbers.
func hasAll(answer string, texts []string) bool {
	answer = strings.ToLower(answer)
	bare := strings.ReplaceAll(answer, ",", "")
	return !slices.ContainsFunc(texts, func(text string) bool {
		text = strings.ToLower(text)
		return !strings.Contains(answer, text) && !strings.Contains(bare, text)
	})
}
