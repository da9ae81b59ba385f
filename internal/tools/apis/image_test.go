package apis

import (
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/response"
)

// TestImages checks which files of answers are shown as pictures.
func TestImages(t *testing.T) {
	for _, row := range []struct {
		media string
		size  int
		shown bool
	}{{"image/png", 3, true}, {"image/jpeg", 3, true}, {"image/webp", maxImage, true}, {"image/png", maxImage + 1, false}, {"image/svg+xml", 3, false}, {"application/pdf", 3, false}} {
		one := reply{got: &response.Answer{Status: 200, Link: &response.Blob{MediaType: row.media, Size: row.size, Bytes: []byte("png")}}}
		_, images := one.attached()
		if shown := len(images) == 1 && images[0].MediaType == row.media && string(images[0].Bytes) == "png"; shown != row.shown {
			t.Errorf("%s of %d bytes: %+v", row.media, row.size, images)
		}
	}
}
