package mongodb_test

import (
	"fmt"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/bailiwick-dev/bailiwick/test/services"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest/writing"
)

// TestLargeDocuments describes and reads a collection of 60 MB. FerretDB can't return more than 48 MB at once.
func TestLargeDocuments(t *testing.T) {
	url := services.FerretDB(t)
	files := database(t, url).Collection("files")
	for id := range 15 {
		if _, err := files.InsertOne(t.Context(), bson.D{{Key: "_id", Value: int32(id)}, {Key: "v", Value: strings.Repeat("a", 4<<20)}}); err != nil {
			t.Fatal(err)
		}
	}
	s := open(t, url)
	classes, _, err := s.Describe(t.Context())
	if err != nil || len(classes) != 1 || classes[0].Field("v") == nil {
		t.Errorf("%+v %v", classes, err)
	}
}

// TestLargeRecords checks that a record with too large visible values is rejected, and a group of records that is too
// large in total. Hidden values must not count, however large they are.
func TestLargeRecords(t *testing.T) {
	for name, on := range map[string]server{"FerretDB": ferret, "Mingo": sets} {
		t.Run(name, func(t *testing.T) {
			g := newGround(t, on)
			const some, most = 900_000, 2 << 20 // a larger receipt isn't stored completely
			for id, m := range []bson.E{{Key: "hidden", Value: strings.Repeat("h", 5<<20)}, {Key: "name", Value: strings.Repeat("x", some)}, {Key: "name", Value: strings.Repeat("y", most)},
				{Key: "doc", Value: bson.D{{Key: "a", Value: strings.Repeat("z", most)}}}, {Key: "name", Value: strings.Repeat("v", most-some)}, {Key: "tags", Value: bson.A(make([]any, 100_000))}} {
				if _, err := g.Collection("things").InsertOne(t.Context(), bson.D{{Key: "_id", Value: oid(id + 11)}, m}); err != nil {
					t.Fatal(err)
				}
			}
			p := writing.NewProposer(t, g.bed(t))
			update := func(id int) string {
				return fmt.Sprintf(`{"op":"update","class":"things","id":"%s","data":{"n":%d}}`, oid(id).Hex(), id)
			}
			remove := func(id int) string {
				return fmt.Sprintf(`{"op":"delete","class":"things","id":"%s"}`, oid(id).Hex())
			}
			const applied, large, together = "; applied", "the record of things has values of more than 2 MiB together", "the records of this group are together larger"
			for _, tt := range []struct {
				writes []string
				want   string
			}{
				{[]string{update(11)}, applied}, {[]string{update(12)}, applied}, {[]string{update(13)}, large}, {[]string{update(14)}, large},
				{[]string{remove(13)}, large}, {[]string{update(16)}, large}, {[]string{update(12), update(11)}, applied},
				{[]string{update(12), update(15)}, together}, {[]string{remove(12)}, applied},
			} {
				if on == ferret && len(tt.writes) > 1 {
					continue // it has no groups
				}
				if got := p.PreviewAndApply(t, tt.writes...); !strings.Contains(got, tt.want) {
					t.Errorf("%v: %.300s, want %q", tt.writes, got, tt.want)
				}
			}
		})
	}
}
