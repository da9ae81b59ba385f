package sourcetest

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
)

// Transliterate returns text in the form that a database with BAILIWICK_TEST_ENCODING can store. The encoding is
// LATIN1, or one with the same characters. Each missing character is replaced by another character.
func Transliterate(text string) string {
	if os.Getenv("BAILIWICK_TEST_ENCODING") == "" {
		return text
	}
	text = escapes.ReplaceAllStringFunc(text, func(e string) string {
		n, err := strconv.ParseUint(e[2:], 16, 32)
		if err != nil || n < 0x100 {
			return e
		}
		return fmt.Sprintf("\\u%04x", 0xc0+n%0x40)
	})
	return strings.Map(func(r rune) rune {
		if r < 0x100 {
			return r
		}
		return 0xc0 + r%0x40
	}, text)
}

// escapes matches an escaped character in JSON.
var escapes = regexp.MustCompile(`\\u[0-9a-fA-F]{4}`)
