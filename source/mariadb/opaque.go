package mariadb

import (
	"net/netip"
	"regexp"

	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/schema"
)

var clock = regexp.MustCompile(`^-?\d{1,3}:[0-5]\d(:[0-5]\d(\.\d{1,6})?)?$`)

// opaqueForms has a function for each type that MariaDB compares by meaning. If text is certainly a value of the type,
// the function returns the type to cast it to. Package source/mariadb sets Ordered on fields of these types.
var opaqueForms = map[string]func(text string) (cast string, ok bool){
	"time": func(text string) (string, bool) { return "TIME(6)", clock.MatchString(text) },
	"inet4": func(text string) (string, bool) {
		a, err := netip.ParseAddr(text)
		return "INET4", err == nil && a.Is4()
	},
	"inet6": func(text string) (string, bool) {
		a, err := netip.ParseAddr(text)
		return "INET6", err == nil && a.Is6() && a.Zone() == ""
	},
}

// Fits implements sqlgen.Dialect.
func (dialect) Fits(f *schema.Field, text string) bool {
	read := opaqueForms[f.Native]
	if read == nil {
		return true
	}
	_, ok := read(text)
	return ok
}

// compareOpaque writes x op v for a column of a type that only MariaDB knows. If v is certainly a value of the type,
// it compares values of the type, so that an index can be used. Otherwise it compares the text that agents see.
func (m dialect) compareOpaque(w *sqlgen.Writer, x sqlgen.Operand, op, v string) error {
	if read := opaqueForms[x.Field.Native]; read != nil {
		if cast, ok := read(v); ok {
			w.Write(x.Text, " ", op, " CAST(")
			w.Put(v, "")
			w.Write(" AS ", cast, ")")
			return nil
		}
	}
	if op != "=" {
		return sqlgen.Misread(x.Field, v)
	}
	left := m.Read(x.Text, x.Field)
	w.Write(binaryUTF8(left), " = ")
	w.Put(v, "")
	return nil
}
