package parse

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/writes"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// The fields of a relation's class, which are the columns of Parse's own join tables.
const (
	owning  = "owningId"
	related = "relatedId"
)

// joinPrefix is the prefix of the names of Parse's join tables, such as _Join:related:Product.
const joinPrefix = "_Join:"

// relations returns a class for each relation field of a Parse class. Its records are pairs of ids, as in Parse's own
// join tables, and it has the name of the table. A pair is visible to users who can see both of its records.
func relations(described value.Value, of *schema.Class) []schema.Class {
	var out []schema.Class
	fields, _ := described.Get("fields")
	for _, f := range fields.Members() {
		target := text(f.Value, "targetClass")
		if text(f.Value, "type") != "Relation" || target == "" {
			continue
		}
		name := joinPrefix + f.Name + ":" + of.Name
		out = append(out, schema.Class{Source: of.Source, Name: name, Table: name, Key: []string{owning, related},
			Description: fmt.Sprintf("The relation %s of %s: pairs of the id of a %s and the id of a %s that it is related to", f.Name, of.Name, of.Name, target),
			Fields: []schema.Field{{Name: owning, Type: schema.String, Native: "String", NotNull: true, Required: true},
				{Name: related, Type: schema.String, Native: "String", NotNull: true, Required: true}},
			Relations: []schema.Relation{{Fields: []string{owning}, Target: of.Name, TargetFields: []string{"objectId"}},
				{Fields: []string{related}, Target: target, TargetFields: []string{"objectId"}}},
			Guard: pairsGuard(of.Guard, f.Name)})
	}
	return out
}

// pairsGuard returns the guard for the pairs of a relation field of a class with the guard g. For Parse Server,
// adding or removing a pair is an update of the owning record. If the permission depends on the record, Parse Server
// itself decides.
func pairsGuard(g *schema.Guard, field string) *schema.Guard {
	out := &schema.Guard{As: g.As, Through: []string{owning, related}, Grants: map[schema.Operation]schema.Grant{schema.Update: {}}, Protected: map[string][]string{}}
	for group, fields := range g.Protected {
		out.Protected[group] = nil
		if slices.Contains(fields, field) {
			out.Protected[group] = []string{owning, related}
		}
	}
	if grant, limited := g.Grants[schema.Update]; limited && len(grant.Users) == 0 {
		out.Grants[schema.Create], out.Grants[schema.Delete] = grant, grant
	}
	return out
}

// pairs reports whether c is the class of a relation.
func (c *class) pairs() bool { return strings.HasPrefix(c.Table, joinPrefix) }

// relation returns the relation field and its class, for the class of a relation.
func (c *class) relation() (field, owner string) {
	field, owner, _ = strings.Cut(strings.TrimPrefix(c.Table, joinPrefix), ":")
	return field, owner
}

// id returns the key of the record that an item writes, or nil if Parse Server generates the key.
func (c *class) id(it *writes.Item) []value.Value {
	if it.Op != write.OpCreate || !c.pairs() {
		return it.ID
	}
	out := make([]value.Value, len(c.Key))
	for _, s := range it.Sets {
		if at := slices.Index(c.Key, s.Field.Name); at >= 0 {
			out[at] = s.Value
		}
	}
	return out
}

// pairs implements page for the class of a relation. Parse Server shows the pairs only to the master. The view of a
// pair combines the views of both classes, which are read with the principal's identity. Parse Server supports no
// order, no keys and no count for pairs. The pairs are complete if no pair follows the last page, and no pair
// occurred twice.
func (w *walk) pairs(ctx context.Context) ([]value.Row, error) {
	query := url.Values{"limit": {strconv.Itoa(w.source.page)}, "skip": {strconv.Itoa(w.seen)}}
	if !w.where.IsNull() {
		query.Set("where", string(w.where.AppendJSON(nil)))
	}
	body, err := w.source.sendRequest(ctx, request{method: http.MethodGet, path: "/classes/" + w.class.Table, as: w.source.master(), query: query}, maxAnswer)
	if err != nil {
		return nil, err
	}
	records, err := restRecords(body)
	if err != nil {
		return nil, illegible(err)
	}
	rows, err := w.rows(records, lacksNothing)
	if err != nil {
		return nil, err
	}
	if w.taken == nil {
		w.taken = map[[2]string]bool{}
	}
	for _, row := range rows {
		id := [2]string{w.value(row, owning).Text(), w.value(row, related).Text()}
		if id[0] == "" || id[1] == "" {
			return nil, unexpectedAnswerError(&refusal{status: http.StatusOK}, "a pair without its ids")
		}
		w.taken[id] = true
	}
	w.seen += len(rows)
	w.ended = len(rows) == 0
	if len(w.taken) < w.seen {
		return nil, unexpectedAnswerError(&refusal{status: http.StatusOK}, "pairs that moved while they were read")
	}
	return rows, w.sound(ctx)
}

// relates returns the request that adds or removes a pair of a relation.
func (c *class) relates(it *writes.Item, as credential) (request, error) {
	field, owner := c.relation()
	id := c.id(it)
	if slices.ContainsFunc(id, value.Value.IsNull) {
		return request{}, problem.New(problem.Internal, "a pair without its ids")
	}
	op := "AddRelation"
	if it.Op == write.OpDelete {
		op = "RemoveRelation"
	}
	does := value.OfObject([]value.Member{{Name: "__op", Value: value.OfString(op)}, {Name: "objects", Value: value.OfArray([]value.Value{restPointer(c.target(related), id[1].Text())})}})
	return request{method: http.MethodPut, path: "/classes/" + owner + "/" + url.PathEscape(id[0].Text()), body: restObject(field, does), as: as}, nil
}
