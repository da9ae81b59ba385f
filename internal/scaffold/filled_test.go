package scaffold

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/samples"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// TestApplicationsFilled repeats TestApplications with 24 records in each table. Columns with secrets contain secrets
// in the forms that applications use, and other columns contain ordinary values. The values then decide even if no
// name does. It uses every third application, or all with BAILIWICK_ALL_APPLICATIONS=1.
func TestApplicationsFilled(t *testing.T) {
	r := rand.New(rand.NewPCG(20, 26))
	var all outcome
	for i, app := range applications(t) {
		if !app.typed || i%3 != 0 && os.Getenv("BAILIWICK_ALL_APPLICATIONS") == "" {
			continue // without types, the contents of the columns are unknown
		}
		seen := map[string]samples.Seen{}
		for _, c := range app.classes {
			for _, f := range c.Fields {
				var tally samples.Tally
				secret := app.marks[c.Name+"."+f.Name] == '!'
				form := r.IntN(len(secretForms))
				for range 24 {
					switch {
					case secret && f.Type != schema.Integer && f.Type != schema.UUID:
						tally.Add(value.OfString(secretForms[form](r)))
					default:
						if v := ordinary(r, &f); v != nil {
							tally.Add(*v)
						}
					}
				}
				seen[c.FullName()+"."+f.Name] = tally.Counts()
			}
		}
		all.add(t, app, Evidence{Fields: seen})
	}
	all.check(t, 300)
}

// drawn returns n random bytes.
func drawn(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.UintN(256))
	}
	return b
}

// secretForms generate secrets in the forms that applications store.
var secretForms = []func(r *rand.Rand) string{
	func(r *rand.Rand) string { return hex.EncodeToString(drawn(r, 20)) },
	func(r *rand.Rand) string { return hex.EncodeToString(drawn(r, 32)) },
	func(r *rand.Rand) string { return base64.RawURLEncoding.EncodeToString(drawn(r, 24)) },
	func(r *rand.Rand) string { return base64.StdEncoding.EncodeToString(drawn(r, 48)) },
	func(r *rand.Rand) string {
		return "$2b$12$" + strings.NewReplacer("+", ".", "=", "").Replace(base64.StdEncoding.EncodeToString(drawn(r, 40)))[:53]
	},
	func(r *rand.Rand) string {
		return "$argon2id$v=19$m=65536,t=3,p=4$" + base64.RawStdEncoding.EncodeToString(drawn(r, 16)) + "$" + base64.RawStdEncoding.EncodeToString(drawn(r, 32))
	},
	func(r *rand.Rand) string {
		return "pbkdf2_sha256$600000$" + hex.EncodeToString(drawn(r, 8)) + "$" + base64.StdEncoding.EncodeToString(drawn(r, 32))
	},
	func(r *rand.Rand) string {
		return `{"host": "mail.example", "password": "` + hex.EncodeToString(drawn(r, 6)) + `"}`
	},
	func(r *rand.Rand) string {
		return `[{"key": "API_TOKEN", "value": "` + hex.EncodeToString(drawn(r, 20)) + `", "secret": true}]`
	},
	func(r *rand.Rand) string {
		return "postgres://app:" + hex.EncodeToString(drawn(r, 8)) + "@db.example:5432/app"
	},
	func(r *rand.Rand) string {
		return "eyJhbGciOiJIUzI1NiJ9." + base64.RawURLEncoding.EncodeToString(drawn(r, 60)) + "." + base64.RawURLEncoding.EncodeToString(drawn(r, 32))
	},
	func(r *rand.Rand) string {
		return "-----BEGIN PRIVATE KEY-----\n" + base64.StdEncoding.EncodeToString(drawn(r, 90)) + "\n-----END PRIVATE KEY-----"
	},
	func(r *rand.Rand) string { return "ghp_" + hex.EncodeToString(drawn(r, 18)) },
	func(r *rand.Rand) string {
		return `{"Authorization": "Bearer ` + hex.EncodeToString(drawn(r, 16)) + `"}`
	},
}

var sentence = strings.Fields("the order was late and we sent a second parcel to their new office last week because nobody had told us about it before")

// ordinary returns a value for a column without secrets, or nil.
func ordinary(r *rand.Rand, f *schema.Field) *value.Value {
	text := func(s string) *value.Value { v := value.OfString(s); return &v }
	switch f.Type {
	case schema.Integer:
		v := value.OfInt(r.Int64N(5000))
		return &v
	case schema.JSON:
		return text(fmt.Sprintf(`{"color": "red", "size": %d, "labels": ["a", "b"]}`, r.IntN(50)))
	case schema.UUID:
		h := hex.EncodeToString(drawn(r, 16))
		return text(h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:])
	case schema.String:
	default:
		return nil
	}
	switch r.IntN(4) {
	case 0:
		return text(sentence[r.IntN(len(sentence))] + "-" + sentence[r.IntN(len(sentence))])
	case 1:
		return text(strings.Join(sentence[r.IntN(10):10+r.IntN(10)], " "))
	case 2:
		return text("https://app.example/items/" + fmt.Sprint(r.IntN(9999)))
	}
	return text(sentence[r.IntN(len(sentence))])
}
