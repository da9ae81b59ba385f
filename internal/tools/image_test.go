package tools

import (
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/response"
)

// TestImages checks which files of answers are returned as images.
func TestImages(t *testing.T) {
	png, jpeg, webp := "\x89PNG\x0d\x0a\x1a\x0a…", "\xff\xd8\xff\xe0", "RIFF\x00\x00\x00\x00WEBPVP"
	for _, row := range []struct {
		media, bytes string
		size         int
		shown        bool
	}{{"image/png", png, 3, true}, {"image/jpeg", jpeg, 3, true}, {"image/webp", webp, maxImage, true}, {"image/png", png, maxImage + 1, false}, {"image/svg+xml", "<svg/>", 3, false}, {"application/pdf", "%PDF-1.4", 3, false},
		{"image/png", "<html>", 3, false}, {"image/png", jpeg, 3, false}} {
		one := reply{got: &response.Answer{Status: 200, Link: &response.Blob{MediaType: row.media, Size: row.size, Bytes: []byte(row.bytes)}}}
		_, images := one.attachments()
		if shown := len(images) == 1 && images[0].MediaType == row.media && string(images[0].Bytes) == row.bytes; shown != row.shown {
			t.Errorf("%s of %d bytes: %+v", row.media, row.size, images)
		}
	}
}
