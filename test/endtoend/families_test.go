package endtoend

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/review"
	"github.com/bailiwick-dev/bailiwick/internal/tools"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/source/mongodb"
	"github.com/bailiwick-dev/bailiwick/test/services"
	"github.com/bailiwick-dev/bailiwick/tool"
)

const (
	parent = `{"op":"create","class_name":"issues","data":{"title":"parent"}}`
	child  = `{"op":"create","class_name":"comments","data":{"issue_id":"$1.id","body":"of its own"}}`
)

// TestFamilies proposes a record and other records that point to it as one change. The database assigns the key. The
// agent must not learn the key, and the reviewer must see which record is meant. All writes must be applied in one
// transaction, and the change can be reverted.
func TestFamilies(t *testing.T) {
	inOffices(t, func(t *testing.T, open func(*testing.T, func(*bailiwick.Options, *change.Options)) *office) {
		o := open(t, nil)
		o.run(`INSERT INTO issues (id, org, title) VALUES (7000, 'globex', 'hidden')`) // SQLite continues counting from this id
		bot, ben, ctx := o.bot(), o.person("ben"), t.Context()
		set, err := tool.NewSet(o.gateway, tools.NewChangeTools(tools.ChangeOptions{Gateway: o.gateway}).Tools()...)
		if err != nil {
			t.Fatal(err)
		}
		second := strings.Replace(child, "of its own", "another", 1)
		if told := o.learns(set, bot, `{"writes":[`+parent+`,`+child+`,`+second+`]}`); !strings.Contains(told, `"after":"$1.id"`) || strings.Contains(told, "700") || strings.Contains(told, "10") {
			t.Errorf("the agent is told of a key: %s", told)
		}
		id, err := o.proposed(bot, parent, child, second)
		if err != nil {
			t.Fatal(err)
		}
		s, err := ben.Sheet(ctx, id)
		if err != nil || !s.CanApprove {
			t.Fatalf("%+v %v", s, err)
		}
		for _, f := range s.Items[1].Fields {
			if f.Path == "issue_id" && (f.After != review.Shown{Kind: "reference", Text: "the new record of write 1"}) {
				t.Errorf("the reviewer reads %+v", f.After)
			}
		}
		done, err := ben.Approve(ctx, id, s.Digest, "")
		if err != nil || done.State != change.Applied {
			t.Fatalf("%+v %v", done, err)
		}
		const family = `SELECT count(*) FROM comments c JOIN issues i ON i.id = c.issue_id WHERE i.title = 'parent' AND i.org = 'acme'`
		if n := o.holds(family); n != "2" {
			t.Errorf("%s comments lead to it", n)
		}
		key := o.holds(`SELECT id FROM issues WHERE title = 'parent'`)
		for _, f := range done.Items[1].Fields {
			if f.Path == "issue_id" && f.After.Text != key {
				t.Errorf("it is shown as %+v, and is %s", f.After, key)
			}
		}
		if !done.CanRevert {
			t.Fatal("no revert:", done.NoRevert)
		}
		back, err := ben.Revert(ctx, id, "not yet")
		if err != nil {
			t.Fatal(err)
		}
		c, err := o.queue.Get(ctx, back.ID)
		if err != nil {
			t.Fatal(err)
		}
		// Nobody sees all fields of the record, so it can be deleted only with break glass.
		cleo := o.gateway.Reviewer(o.token(identity.Human, "cleo", "acme", identity.Read, identity.Review, identity.Operator), "visit")
		if done, err = cleo.BreakGlass(ctx, back.ID, c.Digest, "it was too soon"); err != nil || done.State != change.Applied || o.holds(family) != "0" || o.holds(`SELECT count(*) FROM issues WHERE title = 'parent'`) != "0" {
			t.Errorf("%+v %v", done, err)
		}
		if id, err = o.proposed(bot, `{"op":"create","class_name":"issues","data":{"title":"other"}}`, `{"op":"update","class_name":"comments","object_id":"1","data":{"issue_id":"$1.id"}}`); err != nil {
			t.Fatal(err)
		}
		if s, err = ben.Sheet(ctx, id); err != nil {
			t.Fatal(err)
		}
		if _, err = ben.Approve(ctx, id, s.Digest, ""); err != nil || o.holds(`SELECT title FROM issues i JOIN comments c ON c.issue_id = i.id WHERE c.id = 1`) != "other" {
			t.Error("an update:", err)
		}
	})
}

// TestFamiliesMongoDB is like TestFamilies for MongoDB, where the gateway assigns the keys and uses a transaction.
// Servers without transactions refuse groups.
func TestFamiliesMongoDB(t *testing.T) {
	const first, reply = `{"op":"create","class_name":"comments","data":{"issue_id":1,"body":"first"}}`, `{"op":"create","class_name":"comments","data":{"issue_id":1,"body":"reply","reply_to":"$1.id"}}`
	dbs := map[*office]*mongo.Database{}
	o := documentOffice(t, dbs, mongodb.Options{URL: services.Mingo(t), Full: true}, nil)
	bot, ben, ctx := o.bot(), o.person("ben"), t.Context()
	id, err := o.proposed(bot, first, reply)
	if err != nil {
		t.Fatal(err)
	}
	s, err := ben.Sheet(ctx, id)
	if err != nil || !s.CanApprove {
		t.Fatalf("%+v %v", s, err)
	}
	if done, err := ben.Approve(ctx, id, s.Digest, ""); err != nil || done.State != change.Applied {
		t.Fatalf("%+v %v", done, err)
	}
	keys := map[string]bson.M{}
	cursor, err := dbs[o].Collection("comments").Find(ctx, bson.D{})
	if err != nil {
		t.Fatal(err)
	}
	for cursor.Next(ctx) {
		var r bson.M
		if err := cursor.Decode(&r); err != nil {
			t.Fatal(err)
		}
		keys[fmt.Sprint(r["body"])] = r
	}
	if is, of := keys["reply"]["reply_to"], keys["first"]["_id"]; is == nil || is != of {
		t.Errorf("it leads to %v, want %v", is, of)
	}
	back, err := ben.Revert(ctx, id, "not yet")
	if err != nil {
		t.Fatal(err)
	}
	c, err := o.queue.Get(ctx, back.ID)
	if err != nil {
		t.Fatal(err)
	}
	if done, err := o.person("cleo").Approve(ctx, back.ID, c.Digest, ""); err != nil || done.State != change.Applied {
		t.Errorf("%+v %v", done, err)
	}
	single := documentOffice(t, dbs, mongodb.Options{URL: services.FerretDB(t)}, nil)
	if _, err := single.proposed(single.bot(), first, reply); problem.CodeOf(err) != problem.Unsupported || !strings.Contains(problem.Of(err).Detail, "has no transactions") {
		t.Error(err)
	}
}

// TestFamiliesRefused checks each kind of invalid reference.
func TestFamiliesRefused(t *testing.T) {
	o := newOffice(t, nil)
	bot := o.bot()
	for _, tt := range []struct {
		writes []string
		want   string // "" if the change is filed
	}{
		{[]string{child, parent}, "/writes/0/data/issue_id $1.id names write 1, and this is write 1: only an earlier one has made its record"},
		{[]string{five2, child}, "/writes/1/data/issue_id $1.id names write 1, which creates no record"},
		{[]string{parent, strings.Replace(child, "$1.id", "$1.title", 1)}, "/writes/1/data/issue_id $1.title: of the record of write 1 only its id can be named: $1.id"},
		{[]string{parent, strings.Replace(child, "$1.id", "$1.id.x", 1)}, "/writes/1/data/issue_id $1.id.x: of the record of write 1 only its id can be named: $1.id"},
		{[]string{parent, child, strings.Replace(child, "$1.id", "$2.id", 1)}, "/writes/2/data/issue_id issue_id leads to records of issues, and write 2 creates one of comments"},
		{[]string{parent, `{"op":"create","class_name":"issues","data":{"title":"$1.id"}}`}, "/writes/1/data/title title can't hold the id of a record of issues"},
		{[]string{parent, `{"op":"update","class_name":"issues","object_id":"$1.id","data":{"n":1}}`}, "/writes/1/object_id there is no record \"$1.id\" in issues"},
		{[]string{`{"op":"create","class_name":"issues","data":{"title":"$1.id"}}`}, ""},         // without another write it is an ordinary text
		{[]string{parent, `{"op":"create","class_name":"issues","data":{"title":"$1.50"}}`}, ""}, // a price and not a reference
		{[]string{parent, `{"op":"create","class_name":"issues","data":{"title":"x","n":"$1.id"}}`}, ""},
	} {
		_, err := o.proposed(bot, tt.writes...)
		got := ""
		if err != nil {
			got = problem.Of(err).Pointer + " " + problem.Of(err).Detail
		}
		if got != tt.want {
			t.Errorf("%v\n got %s\nwant %s", tt.writes, got, tt.want)
		}
	}
	// The reviewer sees once that a hidden record makes the parent impossible. The child is shown as usual.
	id, err := o.proposed(bot, strings.Replace(parent, `"title"`, `"code":"taken","title"`, 1), child)
	if err != nil {
		t.Fatal(err)
	}
	s, err := o.person("ben").Sheet(t.Context(), id)
	if err != nil || s.CanApprove || s.Refused != "write 1: another record has the same code" {
		t.Errorf("%q %v", s.Refused, err)
	}
}

const five2 = `{"op":"update","class_name":"issues","object_id":"2","data":{"n":5}}`

// drawFamily draws a record and another record that points to it. Either may be invalid or conflict with hidden
// records.
func drawFamily(r *rand.Rand) string {
	pick := func(from ...string) string { return from[r.IntN(len(from))] }
	more := pick("", "", `,"code":"`+pick("c", "d", "e", "taken")+`"`, `,"points":`+pick("1", "101"), `,"org":"globex"`, `,"id":`+pick("4", "5", "9"), `,"n":7`)
	one := `{"op":"create","class_name":"issues","data":{"title":"y"` + more + `}}`
	two := pick(`{"op":"create","class_name":"comments","data":{"body":"y","issue_id":"`+pick("$1.id", "$1.id", "$1.id", "$2.id", "$1.title")+`"}}`,
		`{"op":"create","class_name":"comments","data":{"body":`+pick("null", `"y"`)+`,"issue_id":"$1.id"}}`,
		`{"op":"update","class_name":"comments","object_id":"`+pick("1", "2", "3", "x")+`","data":{"issue_id":"$1.id"}}`,
		fmt.Sprintf(`{"op":"update","class_name":"issues","object_id":"%s","data":{"n":"$1.id"}}`, pick("1", "2", "9")))
	return `{"writes":[` + one + `,` + two + `]}`
}
