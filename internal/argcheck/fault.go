package argcheck

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// FaultSentence returns the fault of the value called name as a sentence. Keywords about the members of an object get
// the sentence of the library. Sentences about members need their names, which only the caller knows.
func FaultSentence(name string, k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.Type:
		return fmt.Sprintf("%s is of type %s, not %s", name, strings.Join(k.Want, " or "), k.Got)
	case *kind.Const:
		return fmt.Sprintf("%s is %v", name, k.Want)
	case *kind.Format:
		return fmt.Sprintf("%s is of the format %s", name, k.Want)
	case *kind.Pattern:
		return fmt.Sprintf("%s does not match %s", name, k.Want)
	case *kind.Minimum:
		return fmt.Sprintf("%s is at least %s; got %s", name, number(k.Want), number(k.Got))
	case *kind.Maximum:
		return fmt.Sprintf("%s is at most %s; got %s", name, number(k.Want), number(k.Got))
	case *kind.ExclusiveMinimum:
		return fmt.Sprintf("%s is more than %s; got %s", name, number(k.Want), number(k.Got))
	case *kind.ExclusiveMaximum:
		return fmt.Sprintf("%s is less than %s; got %s", name, number(k.Want), number(k.Got))
	case *kind.MultipleOf:
		return fmt.Sprintf("%s is a multiple of %s; got %s", name, number(k.Want), number(k.Got))
	case *kind.MinLength:
		return count(name, "at least", k.Want, k.Got, "character")
	case *kind.MaxLength:
		return count(name, "at most", k.Want, k.Got, "character")
	case *kind.MinItems:
		return count(name, "at least", k.Want, k.Got, "item")
	case *kind.MaxItems:
		return count(name, "at most", k.Want, k.Got, "item")
	case *kind.MinProperties:
		return count(name, "at least", k.Want, k.Got, "field")
	case *kind.MaxProperties:
		return count(name, "at most", k.Want, k.Got, "field")
	case *kind.UniqueItems:
		return fmt.Sprintf("%s has no item twice; those at %d and %d are equal", name, k.Duplicates[0], k.Duplicates[1])
	}
	return fmt.Sprintf("%s: %s", name, k.LocalizedString(message.NewPrinter(language.English)))
}

// count returns the sentence about how many of something a value has.
func count(name, bound string, want, got int, what string) string {
	if want != 1 {
		what += "s"
	}
	return fmt.Sprintf("%s has %s %d %s; got %d", name, bound, want, what, got)
}

// number formats a number for people.
func number(r *big.Rat) string {
	if r.IsInt() {
		return r.RatString()
	}
	f, _ := r.Float64()
	return strconv.FormatFloat(f, 'f', -1, 64)
}
