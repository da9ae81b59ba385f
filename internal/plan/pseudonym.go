package plan

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"strconv"

	"github.com/bailiwick-dev/bailiwick/value"
)

// letters are the characters of a pseudonym. There are no vowels, so that no words appear, and no characters that look
// alike.
const letters = "23456789BCDFGHJKMNPQRSTVWXZ"

// rounds is the number of rounds of a permutation.
const rounds = 8

// pseudonym returns a function that maps the key of a record to a name such as Person 5K2M, always the same one. Keys
// that are integers from 0 never share a name. Of other keys, one pair in 10¹¹ does.
func (m Mask) pseudonym(k MaskKey) func(value.Value) value.Value {
	p := permutation{hmac: func(data []byte) [sha256.Size]byte {
		h := hmac.New(sha256.New, k.secret)
		h.Write([]byte("pseudonym\x00" + m.Field + "\x00"))
		h.Write(data)
		return [sha256.Size]byte(h.Sum(nil))
	}}
	return func(v value.Value) value.Value {
		if v.IsNull() {
			return v
		}
		return value.OfString(m.Word + " " + p.name(comparableText(v)))
	}
}

// A permutation maps a number to another number of the same length. No two numbers map to the same number.
type permutation struct {
	hmac func(data []byte) [sha256.Size]byte
}

// name returns the name for a key. An integer is permuted among the numbers of its length: 4 characters for keys below
// 531,441, then 6, 8 and so on. Any other key is hashed to 9 characters.
func (p permutation) name(key string) string {
	n, err := strconv.ParseUint(key, 10, 63)
	if err != nil || strconv.FormatUint(n, 10) != key {
		sum := p.hmac([]byte("text\x00" + key))
		return spell(binary.BigEndian.Uint64(sum[:]), 9)
	}
	base, half := uint64(len(letters)), uint64(len(letters)*len(letters))
	size := 4
	for ; half*half <= n && size < 12; size += 2 {
		half *= base
	}
	if half*half <= n { // longer names would overflow the arithmetic
		sum := p.hmac([]byte("text\x00" + key))
		return spell(binary.BigEndian.Uint64(sum[:]), 13)
	}
	left, right := n/half, n%half
	for round := range rounds { // a Feistel network: each round is reversible, so no two numbers become equal
		var data [18]byte
		data[0], data[1] = byte(size), byte(round)
		binary.BigEndian.PutUint64(data[2:], right)
		sum := p.hmac(data[:10])
		left, right = right, (left+binary.BigEndian.Uint64(sum[:])%half)%half
	}
	return spell(left*half+right, size)
}

// spell writes n in letters as text of this size.
func spell(n uint64, size int) string {
	out := make([]byte, size)
	for i := range out {
		out[size-1-i] = letters[n%uint64(len(letters))]
		n /= uint64(len(letters))
	}
	return string(out)
}
