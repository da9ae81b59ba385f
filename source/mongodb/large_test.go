package mongodb_test

import (
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/bailiwick-dev/bailiwick/internal/testservices"
)

// TestLargeDocuments describes and reads a collection of 60 MB: FerretDB refuses to answer with more than 48 MB at once.
func TestLargeDocuments(t *testing.T) {
	url := testservices.FerretDB(t)
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
