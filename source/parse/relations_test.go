package parse_test

import (
	"crypto/rand"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/source/parse"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// A linked is a class with a relation to another class, in a Parse Server.
type linked struct {
	*server
	owner, target   string // the names of the classes
	owners, targets []string
}

// newLinked creates the classes. Every owner is related to every target. In each class, the records have different
// access lists: none, alice, bob.
func newLinked(t *testing.T, clp any) *linked {
	s := start(t)
	suffix := strings.ToUpper(rand.Text()[:6])
	l := &linked{server: s, owner: "Album" + suffix, target: "Song" + suffix}
	alice, _ := s.session("alice")
	bob, _ := s.session("bob")
	s.must("POST", "/schemas/"+l.target, object{"className": l.target, "fields": object{"title": object{"type": "String"}}})
	made := object{"className": l.owner, "fields": object{"title": object{"type": "String"}, "songs": object{"type": "Relation", "targetClass": l.target}}}
	if clp != nil {
		made["classLevelPermissions"] = clp
	}
	s.must("POST", "/schemas/"+l.owner, made)
	t.Cleanup(func() {
		for class, ids := range map[string][]string{l.owner: l.owners, l.target: l.targets} {
			for _, id := range ids {
				s.must("DELETE", "/classes/"+class+"/"+id, nil)
			}
			s.must("DELETE", "/schemas/"+class, nil)
		}
	})
	lists := []object{nil, {alice: object{"read": true, "write": true}}, {bob: object{"read": true, "write": true}}}
	create := func(class string, i int, record object) string {
		record["title"] = fmt.Sprint("t", i)
		if lists[i] != nil {
			record["ACL"] = lists[i]
		}
		return s.must("POST", "/classes/"+class, record)["objectId"].(string)
	}
	songs := []object{}
	for i := range lists {
		l.targets = append(l.targets, create(l.target, i, object{}))
		songs = append(songs, object{"__type": "Pointer", "className": l.target, "objectId": l.targets[i]})
	}
	for i := range lists {
		l.owners = append(l.owners, create(l.owner, i, object{"songs": object{"__op": "AddRelation", "objects": songs}}))
	}
	return l
}

// pairs returns the name of the relation's class.
func (l *linked) pairs() string { return "_Join:songs:" + l.owner }

// theirs returns the pairs that a session sees on Parse Server: the owners that it finds, with their related records.
func (l *linked) theirs(header string) []string {
	out := []string{}
	_, owners := l.found(l.owner, `{}`, header)
	for _, o := range idsOf(owners) {
		_, songs := l.found(l.target, `{"$relatedTo":{"object":{"__type":"Pointer","className":"`+l.owner+`","objectId":"`+o+`"},"key":"songs"}}`, header)
		for _, s := range idsOf(songs) {
			out = append(out, o+" "+s)
		}
	}
	slices.Sort(out)
	return out
}

// ours returns the sorted rows of a query as text, or its error code.
func (a *asker) ours(q query.Query) []string {
	_, rows, err := a.read(q)
	if err != nil {
		return []string{string(problem.CodeOf(err))}
	}
	out := []string{}
	for _, row := range rows {
		var texts []string
		for _, v := range row {
			texts = append(texts, v.String())
		}
		out = append(out, strings.Join(texts, " "))
	}
	slices.Sort(out)
	return out
}

// TestRelations compares the pairs of a relation, their counts, and joins and conditions over them with Parse
// Server's answers to the same session.
func TestRelations(t *testing.T) {
	for name, clp := range map[string]any{
		"open":      nil,
		"readers":   object{"find": object{"requiresAuthentication": true}, "get": object{"requiresAuthentication": true}, "count": object{"requiresAuthentication": true}},
		"protected": object{"find": object{"*": true}, "get": object{"*": true}, "count": object{"*": true}, "protectedFields": object{"*": []string{"songs"}, "role:support": []string{}}},
	} {
		l := newLinked(t, clp)
		_, alice := l.session("alice")
		_, bob := l.session("bob")
		compared := 0
		for posture, header := range map[string]string{"public": "X-Nobody: x", "session alice": "X-Parse-Session-Token: " + alice, "user bob": "X-Parse-Session-Token: " + bob, "role support": "X-Nobody: x", "master": "X-Parse-Master-Key: " + l.MasterKey} {
			want := l.theirs(header)
			if posture == "role support" {
				want = []string{l.owners[0] + " " + l.targets[0]} // a role has no session for the request
			}
			hidden := name == "protected" && !strings.HasPrefix(posture, "role") && posture != "master" || name == "readers" && posture == "public"
			for _, direct := range []string{"", l.Database} {
				a := l.open(posture, direct, nil)
				check := func(what string, q query.Query, want []string) {
					t.Helper()
					compared++
					if hidden {
						want = []string{"not_found"}
					}
					if got := a.ours(q); !slices.Equal(got, want) {
						t.Errorf("%s, %s, direct %v: %s: %v; want %v", name, posture, direct != "", what, got, want)
					}
				}
				check("pairs", pipeline(t, l.pairs(), `[{"$project":{"owningId":1,"relatedId":1}}]`), want)
				check("count", &query.Count{Class: l.pairs()}, []string{fmt.Sprint(len(want))})
				joined := pipeline(t, l.pairs(), `[{"$lookup":{"from":"`+l.target+`","localField":"relatedId","foreignField":"objectId","as":"s"}},{"$unwind":"$s"},{"$project":{"owningId":1,"relatedId":"$s.objectId"}}]`)
				check("join", joined, want)
				first := []string{}
				for _, pair := range want {
					if o, s, _ := strings.Cut(pair, " "); o == l.owners[0] {
						first = append(first, s)
					}
				}
				slices.Sort(first)
				of := `{"objectId":{"$select":{"key":"relatedId","query":{"className":"` + l.pairs() + `","where":{"owningId":"` + l.owners[0] + `"}}}}}`
				check("related", pipeline(t, l.target, `[{"$match":`+of+`},{"$project":{"objectId":1}}]`), first)
			}
		}
		t.Logf("%s: %d comparisons", name, compared)
	}
}

// TestRelationPages reads pairs page by page from a server that returns few records per request.
func TestRelationPages(t *testing.T) {
	l := newLinked(t, nil)
	a := l.open("master", "", nil)
	a.source.(*parse.Source).SetPage(2)
	q := &query.Find{Class: l.pairs(), Limit: 4}
	if got := strings.Count(a.pages(q), "\n"); got != 9 {
		t.Errorf("%d pairs, want 9", got)
	}
}

// TestRelationWrites adds and removes pairs as a user, and compares the results with what Parse Server allows the
// same session.
func TestRelationWrites(t *testing.T) {
	l := newLinked(t, nil)
	_, token := l.session("alice")
	o, p := l.options("user alice")
	f := newFront(t, l.server)
	o.URL = f.server.URL + "/parse"
	src, err := parse.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	into, err := src.Writable()
	if err != nil {
		t.Fatal(err)
	}
	w := newWriter(t, into, p)
	pair := func(o, s int) value.Value {
		return value.OfObject([]value.Member{{Name: "owningId", Value: value.OfString(l.owners[o])}, {Name: "relatedId", Value: value.OfString(l.targets[s])}})
	}
	id := func(o, s int) string { return `["` + l.owners[o] + `","` + l.targets[s] + `"]` }
	alice, _ := l.session("alice")
	roles := l.must("GET", "/roles", nil)["results"].([]any)
	role := value.OfObject([]value.Member{{Name: "owningId", Value: value.OfString(roles[0].(object)["objectId"].(string))}, {Name: "relatedId", Value: value.OfString(alice)}})
	related := func(owner int) int {
		_, songs := l.found(l.target, `{"$relatedTo":{"object":{"__type":"Pointer","className":"`+l.owner+`","objectId":"`+l.owners[owner]+`"},"key":"songs"}}`, "X-Parse-Master-Key: "+l.MasterKey)
		return len(songs)
	}
	for _, tt := range []struct {
		name, swallow string
		write         write.Write
		want          string // the state, or a part of the error
		owner, left   int
	}{
		{"remove", "", &write.Delete{Class: l.pairs(), ID: id(1, 0)}, string(change.Applied), 1, 2},
		{"remove what isn't there", "", &write.Delete{Class: l.pairs(), ID: id(1, 0)}, "there is no record", 1, 2},
		{"add", "", &write.Create{Class: l.pairs(), Data: pair(1, 0)}, string(change.Applied), 1, 3},
		{"add what is there", "", &write.Create{Class: l.pairs(), Data: pair(1, 0)}, "already", 1, 3},
		{"remove, and the answer is lost", "answer", &write.Delete{Class: l.pairs(), ID: id(1, 1)}, string(change.Applied), 1, 2},
		{"add, and the answer is lost", "answer", &write.Create{Class: l.pairs(), Data: pair(1, 1)}, string(change.Applied), 1, 3},
		{"add, and the request is lost", "request", &write.Create{Class: l.pairs(), Data: pair(1, 1)}, "already", 1, 3},
		{"of an owner that isn't seen", "", &write.Delete{Class: l.pairs(), ID: id(2, 0)}, "there is no record", 2, 3},
		{"to a target that isn't seen", "", &write.Create{Class: l.pairs(), Data: pair(0, 2)}, "leads to no record", 0, 3},
		{"change", "", &write.Update{Class: l.pairs(), ID: id(1, 0), Data: pair(1, 1)}, "stays as it is", 1, 3},
		{"of a role", "", &write.Create{Class: "_Join:users:_Role", Data: role}, "class of Parse itself", 0, 3},
	} {
		f.swallow.Store(tt.swallow)
		before := f.sent.Load()
		sheet, err := w.write(tt.write)
		f.swallow.Store("")
		got, sent := "", f.sent.Load()-before
		if err != nil {
			got = err.Error()
		} else {
			got = string(sheet.State)
		}
		if !strings.Contains(got, tt.want) || related(tt.owner) != tt.left || err == nil && sent != 1 || err != nil && sent != 0 {
			t.Errorf("%s: %s after %d requests, %d are left; want %s, %d", tt.name, got, sent, related(tt.owner), tt.want, tt.left)
		}
	}
	if status, _ := l.ask("PUT", "/classes/"+l.owner+"/"+l.owners[2]+"?"+url.Values{}.Encode(), object{"songs": object{"__op": "RemoveRelation", "objects": []object{}}}, "X-Parse-Session-Token: "+token); status < 400 {
		t.Error("Parse Server lets alice change the relations of an album that she doesn't see")
	}
}
