package result

import (
	"encoding/binary"
	"encoding/hex"
	"math"
	"time"

	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/value"
)

// uuidTag is the kind of a text that is a UUID. The 16 bytes of the UUID follow it.
const uuidTag = 0xff

// The lowest bits of the first number of a place are flags for the parts that follow.
const (
	hasAfter = 1 << iota // values, up to the end
	hasLast              // the digest and the run of the last record
	hasNow               // a time
	flags    = iota      // the number of flags
)

// appendPlace appends a position in binary form. It begins with the number of records to skip and flags for the other
// parts. Then come the digest and the run of the last record, the time, and the values of the record after which to
// continue. Each value follows its kind.
func appendPlace(dst []byte, at policy.Position) []byte {
	head := uint64(at.Skip) << flags
	if at.After != nil {
		head |= hasAfter
	}
	if at.Last != 0 {
		head |= hasLast
	}
	if !at.Now.IsZero() {
		head |= hasNow
	}
	dst = binary.AppendUvarint(dst, head)
	if at.Last != 0 {
		dst = binary.AppendUvarint(binary.AppendUvarint(dst, at.Last), uint64(at.Run))
	}
	if !at.Now.IsZero() {
		dst = binary.AppendVarint(dst, at.Now.UnixMicro())
	}
	for _, v := range at.After {
		raw, isUUID := uuidBytes(v)
		if isUUID {
			dst = append(append(dst, uuidTag), raw...)
			continue
		}
		dst = append(dst, byte(v.Kind()))
		switch v.Kind() {
		case value.Null:
		case value.Bool:
			dst = append(dst, map[bool]byte{true: 1}[v.Bool()])
		case value.Int:
			dst = binary.AppendVarint(dst, v.Int())
		case value.Date, value.Day:
			dst = binary.AppendVarint(dst, v.Micros())
		case value.Float:
			dst = binary.BigEndian.AppendUint64(dst, math.Float64bits(v.Float()))
		case value.Decimal, value.String, value.Bytes:
			dst = append(binary.AppendUvarint(dst, uint64(len(v.Text()))), v.Text()...)
		default:
			doc := v.AppendJSON(nil)
			dst = append(binary.AppendUvarint(dst, uint64(len(doc))), doc...)
		}
	}
	return dst
}

// readPlace decodes the output of appendPlace. ok is false for invalid bytes.
func readPlace(src []byte) (at policy.Position, ok bool) {
	ok = true
	number := func() uint64 {
		v, n := binary.Uvarint(src)
		if n <= 0 {
			ok = false
			return 0
		}
		src = src[n:]
		return v
	}
	head := number()
	if head>>flags > math.MaxInt32 {
		return at, false
	}
	at.Skip = int(head >> flags)
	if head&hasAfter != 0 {
		at.After = []value.Value{}
	}
	if head&hasLast != 0 {
		at.Last = number()
		run := number()
		if ok = ok && at.Last != 0 && run <= math.MaxInt32; ok {
			at.Run = int(run)
		}
	}
	if head&hasNow != 0 {
		micros, n := binary.Varint(src)
		if ok = ok && n > 0; ok {
			src, at.Now = src[n:], time.UnixMicro(micros).UTC()
		}
	}
	if !ok {
		return policy.Position{}, false
	}
	for len(src) > 0 {
		v, rest, ok := readValue(src[0], src[1:])
		if !ok || at.After == nil {
			return policy.Position{}, false
		}
		at.After, src = append(at.After, v), rest
	}
	return at, true
}

// readValue decodes a value of a kind from the beginning of src.
func readValue(kind byte, src []byte) (v value.Value, rest []byte, ok bool) {
	take := func(n int) (part []byte) {
		if ok = n >= 0 && n <= len(src); ok {
			part, src = src[:n], src[n:]
		}
		return part
	}
	number := func() int64 {
		n, size := binary.Varint(src)
		take(min(size, len(src)))
		return n
	}
	text := func() string {
		n, size := binary.Uvarint(src)
		if take(size); !ok || size == 0 || n > uint64(len(src)) {
			ok = false
			return ""
		}
		return string(take(int(n)))
	}
	switch ok = true; value.Kind(kind) {
	case value.Null:
	case value.Bool:
		b := take(1)
		v = value.OfBool(ok && b[0] == 1)
	case value.Int:
		v = value.OfInt(number())
	case value.Date:
		v = value.OfDate(number())
	case value.Day:
		v = value.OfDay(number())
	case value.Float:
		if b := take(8); ok {
			v = value.OfFloat(math.Float64frombits(binary.BigEndian.Uint64(b)))
		}
	case value.Decimal:
		v = value.OfDecimal(text())
	case value.String:
		v = value.OfString(text())
	case value.Bytes:
		v = value.OfBytes(text())
	case uuidTag:
		if b := take(16); ok {
			v = value.OfString(uuidText(b))
		}
	default:
		doc, err := value.Read([]byte(text()), 0)
		v, ok = doc, ok && err == nil
	}
	return v, src, ok
}

// uuidBytes returns the bytes of a UUID text in the form of uuidText.
func uuidBytes(v value.Value) (raw []byte, ok bool) {
	s := v.Text()
	if v.Kind() != value.String || len(s) != 36 {
		return nil, false
	}
	raw, err := hex.DecodeString(s[:8] + s[9:13] + s[14:18] + s[19:23] + s[24:])
	return raw, err == nil && uuidText(raw) == s
}

func uuidText(raw []byte) string {
	h := hex.EncodeToString(raw)
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}
