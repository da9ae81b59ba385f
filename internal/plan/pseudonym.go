package plan

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"strconv"

	"github.com/bailiwick-dev/bailiwick/value"
)

// letters are the characters of a pseudonym: without vowels, so that no word appears, and without those that look alike.
const letters = "23456789BCDFGHJKMNPQRSTVWXZ"

// rounds is the number of rounds of a permutation.
const rounds = 8

// pseudonym returns a function of the keys of records: it gives each record a name such as Person 5K2M, always the same one. Two keys that
// are integers from 0 never have the same name. Of other keys, one pair in 10¹¹ has.
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

// A permutation maps numbers of a length to others of that length, each to its own.
type permutation struct {
	hmac func(data []byte) [sha256.Size]byte
}

// name returns the name for a key. An integer is permuted among those of its length: 4 characters for keys below 531,441, then 6, 8
// and so on. Another key is hashed, to 9 characters.
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
	if half*half <= n { // longer names would not fit the arithmetic
		sum := p.hmac([]byte("text\x00" + key))
		return spell(binary.BigEndian.Uint64(sum[:]), 13)
	}
	left, right := n/half, n%half
	for round := range rounds { // a Feistel network: each round can be undone, so no two numbers become one
		var data [18]byte
		data[0], data[1] = byte(size), byte(round)
		binary.BigEndian.PutUint64(data[2:], right)
		sum := p.hmac(data[:10])
		left, right = right, (left+binary.BigEndian.Uint64(sum[:])%half)%half
	}
	return spell(left*half+right, size)
}

// spell writes n in letters, with size of them.
func spell(n uint64, size int) string {
	out := make([]byte, size)
	for i := range out {
		out[size-1-i] = letters[n%uint64(len(letters))]
		n /= uint64(len(letters))
	}
	return string(out)
}
