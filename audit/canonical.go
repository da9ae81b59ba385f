package audit

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// timeForm is RFC 3339 in UTC with exactly six fractional digits.
const timeForm = "2006-01-02T15:04:05.000000Z"

// AppendCanonical appends the canonical form of r. Hash is over Prev, in hex, and this form. The form is one line of
// JSON with the members in the order of the struct, without prev and hash. Empty texts and lists are left out. Integers
// are digits, and times have the format timeForm. In strings only `"`, `\` and control characters are escaped. Equal
// bytes mean equal records.
func (r *Record) AppendCanonical(dst []byte) []byte {
	dst = strconv.AppendInt(append(dst, `{"seq":`...), r.Seq, 10)
	return r.appendBody(dst)
}

// AppendJSON appends r as one line of JSON: the canonical form with prev and hash after seq. You can verify a line
// without Bailiwick: cut out these two members, put the value of prev before the rest, and compute the SHA-256.
func (r *Record) AppendJSON(dst []byte) []byte {
	dst = strconv.AppendInt(append(dst, `{"seq":`...), r.Seq, 10)
	dst = appendString(append(dst, `,"prev":`...), r.Prev)
	dst = appendString(append(dst, `,"hash":`...), r.Hash)
	return r.appendBody(dst)
}

// MarshalJSON returns the result of AppendJSON.
func (r Record) MarshalJSON() ([]byte, error) { return r.AppendJSON(nil), nil }

// appendBody appends the members of r after prev and seq, in a fixed order, in the hashed form. New members must be at
// the end and only present if they are set, because the hashes of older records must not change.
func (r *Record) appendBody(dst []byte) []byte {
	dst = append(dst, `,"time":"`...)
	dst = append(r.Time.UTC().AppendFormat(dst, timeForm), '"')
	dst = appendString(append(dst, `,"principal":`...), r.Principal)
	dst = appendText(dst, `,"owner":`, r.Owner)
	dst = appendText(dst, `,"tenant":`, r.Tenant)
	dst = appendText(dst, `,"token_id":`, r.TokenID)
	dst = appendString(append(dst, `,"correlation_id":`...), r.Correlation)
	dst = appendString(append(dst, `,"tool":`...), r.Tool)
	dst = appendText(dst, `,"class":`, r.Class)
	dst = appendList(dst, `,"arg_keys":[`, r.ArgKeys)
	dst = appendText(dst, `,"arg_hash":`, r.ArgHash)
	dst = appendString(append(dst, `,"outcome":`...), r.Outcome)
	dst = appendText(dst, `,"code":`, r.Code)
	dst = appendText(dst, `,"kind":`, r.Kind)
	dst = appendText(dst, `,"policy":`, r.Policy)
	dst = strconv.AppendInt(append(dst, `,"rows":`...), int64(r.Rows), 10)
	dst = strconv.AppendInt(append(dst, `,"bytes":`...), int64(r.Bytes), 10)
	dst = strconv.AppendInt(append(dst, `,"tokens":`...), int64(r.Tokens), 10)
	dst = strconv.AppendInt(append(dst, `,"duration_us":`...), r.Micros, 10)
	dst = appendText(dst, `,"parent":`, r.Parent)
	if r.Depth != 0 {
		dst = strconv.AppendInt(append(dst, `,"depth":`...), int64(r.Depth), 10)
	}
	dst = appendList(dst, `,"scopes":[`, r.Scopes)
	dst = appendList(dst, `,"uses":[`, r.Uses)
	if r.Cost != 0 {
		dst = strconv.AppendInt(append(dst, `,"cost_microusd":`...), r.Cost, 10)
	}
	dst = appendText(dst, `,"change":`, r.Change)
	dst = appendText(dst, `,"checkpoint":`, r.Checkpoint)
	dst = appendText(dst, `,"step":`, r.Step)
	dst = appendText(dst, `,"digest":`, r.Digest)
	dst = appendText(dst, `,"credential":`, r.Credential)
	if r.Person {
		dst = append(dst, ofPerson...)
	}
	return append(dst, '}')
}

// ofPerson is the member of records with Person.
const ofPerson = `,"person":true`

// appendList appends a member with its list, or nothing if the list is empty.
func appendList(dst []byte, member string, list []string) []byte {
	if len(list) == 0 {
		return dst
	}
	dst = append(dst, member...)
	for i, s := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendString(dst, s)
	}
	return append(dst, ']')
}

// appendText appends a member, or nothing if s is empty.
func appendText(dst []byte, member, s string) []byte {
	if s == "" {
		return dst
	}
	return appendString(append(dst, member...), s)
}

const hexDigits = "0123456789abcdef"

// appendString appends s quoted. It doesn't change invalid UTF-8, so that different strings stay different.
func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[from:i]...)
		if c == '"' || c == '\\' {
			dst = append(dst, '\\', c)
		} else {
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
		from = i + 1
	}
	return append(append(dst, s[from:]...), '"')
}

// clean converts r to the form in which it is stored.
func clean(r *Record) {
	r.Time = r.Time.UTC().Truncate(time.Microsecond)
	for _, s := range r.texts() {
		if !utf8.ValidString(*s) {
			*s = strings.ToValidUTF8(*s, "\uFFFD")
		}
	}
	for _, list := range [...]*[]string{&r.ArgKeys, &r.Scopes, &r.Uses} {
		if slices.ContainsFunc(*list, func(k string) bool { return !utf8.ValidString(k) }) {
			*list = slices.Clone(*list)
			for i, k := range *list {
				(*list)[i] = strings.ToValidUTF8(k, "\uFFFD")
			}
		}
	}
}

// texts returns pointers to all text fields of r except Prev and Hash.
func (r *Record) texts() [18]*string {
	return [...]*string{&r.Principal, &r.Owner, &r.Tenant, &r.TokenID, &r.Correlation, &r.Tool, &r.Class, &r.ArgHash,
		&r.Outcome, &r.Code, &r.Kind, &r.Policy, &r.Parent, &r.Change, &r.Checkpoint, &r.Step, &r.Digest, &r.Credential}
}
