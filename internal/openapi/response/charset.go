package response

import (
	"bytes"
	"cmp"
	"mime"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/value"
)

// decodeBody returns the body of a response in UTF-8, without a byte order mark. The mark determines the encoding.
// Without a mark, the charset of the media type does. JSON without either is UTF-8, or its zero bytes determine the
// encoding (RFC 4627). A body in an unknown charset is returned unchanged.
func decodeBody(r *calls.HTTPResponse) []byte {
	body := r.Body
	_, params, err := mime.ParseMediaType(cmp.Or(r.Header.Get("Content-Type"), r.MediaType))
	if err != nil {
		params = nil
	}
	from := bomEncoding(body)
	switch {
	case bytes.HasPrefix(body, []byte("\xEF\xBB\xBF")):
		return body[3:]
	case from != nil:
	case utf8.Valid(body) && !zeros(body):
		return body // most bodies, regardless of the header: no other encoding is valid UTF-8 by chance
	case params["charset"] != "":
		from = charset(params["charset"])
	default:
		from = guessEncoding(body)
	}
	if from == nil {
		return body
	}
	out, err := from.NewDecoder().Bytes(body)
	if err != nil {
		return body
	}
	return bytes.TrimPrefix(out, []byte("\xEF\xBB\xBF"))
}

// zeros reports whether the start of a body contains zero bytes, as UTF-16 and UTF-32 do.
func zeros(body []byte) bool { return bytes.IndexByte(body[:min(len(body), 4)], 0) >= 0 }

// bomEncoding returns the encoding of a byte order mark. It returns nil without a mark and for UTF-8.
func bomEncoding(body []byte) encoding.Encoding {
	switch {
	case bytes.HasPrefix(body, []byte("\xFF\xFE\x00\x00")), bytes.HasPrefix(body, []byte("\x00\x00\xFE\xFF")):
		return utf32.UTF32(utf32.BigEndian, utf32.UseBOM)
	case bytes.HasPrefix(body, []byte("\xFF\xFE")), bytes.HasPrefix(body, []byte("\xFE\xFF")):
		return unicode.UTF16(unicode.BigEndian, unicode.UseBOM)
	}
	return nil
}

// guessEncoding returns the encoding that the positions of zero bytes in JSON indicate, or nil.
func guessEncoding(body []byte) encoding.Encoding {
	if len(body) < 4 {
		return nil
	}
	switch zero := [4]bool{body[0] == 0, body[1] == 0, body[2] == 0, body[3] == 0}; zero {
	case [4]bool{true, true, true, false}:
		return utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM)
	case [4]bool{false, true, true, true}:
		return utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM)
	case [4]bool{true, false, true, false}:
		return unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)
	case [4]bool{false, true, false, true}:
		return unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)
	}
	return nil
}

// charset returns the encoding with the given name. It returns nil for UTF-8 and for an unknown name.
func charset(name string) encoding.Encoding {
	name = strings.NewReplacer("_", "-", " ", "-").Replace(strings.ToLower(strings.Trim(name, `"' `)))
	switch name {
	case "utf-16", "utf16", "utf-16be", "utf16be":
		return unicode.UTF16(unicode.BigEndian, unicode.UseBOM)
	case "utf-16le", "utf16le":
		return unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)
	case "utf-32", "utf32", "utf-32be":
		return utf32.UTF32(utf32.BigEndian, utf32.UseBOM)
	case "utf-32le":
		return utf32.UTF32(utf32.LittleEndian, utf32.UseBOM)
	case "latin1", "latin-1", "iso8859-1", "iso88591", "l1", "us-ascii", "ascii", "cp1252":
		return charmap.Windows1252
	case "latin9", "latin-9":
		return charmap.ISO8859_15
	}
	number, iso := strings.CutPrefix(name, "iso-8859-")
	for _, one := range charmap.All {
		named, ok := one.(*charmap.Charmap)
		if !ok {
			continue
		}
		is := strings.NewReplacer("_", "-", " ", "-").Replace(strings.ToLower(named.String()))
		if is == name || iso && is == "iso-8859-"+number {
			return named
		}
	}
	return nil
}

// Raw returns the JSON of a response unfiltered.
func Raw(r *calls.HTTPResponse) (value.Value, error) {
	return value.Read(inJSON(decodeBody(r)), maxDepth)
}

// guards are prefixes that services write before JSON, so that browsers don't run the JSON as a script.
var guards = []string{")]}',", ")]}'", "while(1);", "for(;;);"}

// inJSON returns a JSON body without surrounding space and without a guard.
func inJSON(body []byte) []byte {
	body = bytes.TrimSpace(body)
	for _, guard := range guards {
		if rest, ok := bytes.CutPrefix(body, []byte(guard)); ok {
			return bytes.TrimSpace(rest)
		}
	}
	return body
}
