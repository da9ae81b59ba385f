package response

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkMake measures a page of 500 records with hidden fields, 130 KB, cut to its budget of 100,000 bytes.
func BenchmarkMake(b *testing.B) {
	v, op := seen(b, ref("Page"), `{"in":"query","name":"offset","schema":{"type":"integer"}}`)
	var all []string
	for i := range 500 {
		all = append(all, fmt.Sprintf(`{"id":%d,"name":"%s","plan":"p","lead":{"name":"n","salary":1},"members":[{"name":"a","salary":2},{"name":"b","phrase":"c"}],"extra":{"apiKey":"k"}}`, i, strings.Repeat("x", 100)))
	}
	r := ok(`{"items":[` + strings.Join(all, ",") + `],"total":9000}`)
	b.SetBytes(int64(len(r.Body)))
	b.ReportAllocs()
	for b.Loop() {
		if a, err := Make(v, op, r, Options{}); err != nil || a.Shown == 0 || a.Shown == a.Of {
			b.Fatal(a.Shown, err)
		}
	}
}
