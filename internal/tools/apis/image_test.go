package apis

import (
	"testing"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/response"
	"github.com/bailiwick-dev/bailiwick/value"
)

// TestImages checks which files of answers are shown as pictures.
func TestImages(t *testing.T) {
	for _, row := range []struct {
		media string
		size  int
		shown bool
	}{{"image/png", 3, true}, {"image/jpeg", 3, true}, {"image/webp", maxImage, true}, {"image/png", maxImage + 1, false}, {"image/svg+xml", 3, false}, {"application/pdf", 3, false}} {
		got := told(&bailiwick.Call{}, value.Value{}, &response.Answer{Status: 200, Link: &response.Blob{MediaType: row.media, Size: row.size, Bytes: []byte("png")}}, value.Value{}, "")
		if shown := len(got.Images) == 1 && got.Images[0].MediaType == row.media && string(got.Images[0].Bytes) == "png"; shown != row.shown {
			t.Errorf("%s of %d bytes: %+v", row.media, row.size, got.Images)
		}
	}
}
