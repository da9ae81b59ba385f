package store

import (
	"encoding/binary"
	"errors"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick/audit"
)

// BlockSize is the number of records that a Block summarizes.
const BlockSize = 2048

// A Block summarizes BlockSize consecutive records of the audit: what searches and sums need of them. It is derived from
// the records, and is written again when it is missing. It isn't used if its last record has another hash.
type Block struct {
	Number      int64    // its records are Number*BlockSize+1 to (Number+1)*BlockSize
	Hash        []byte   // of the last of these records, or empty if an archive has it
	First, Last int64    // the first and the last time of its records, in microseconds since 1970
	Body        []byte   // the records, as appendSummary writes them
	Words       []string // words by which its records are found: see wordsOfRecord
	Names       []string // the words in which parts are found
}

// blockForm is the first byte of a Block's body. A program that knows only other forms reads the records instead.
const blockForm = 1

// NewBlock returns the block of the given records, which are in order.
func NewBlock(number int64, records []audit.Record, hash []byte) Block {
	b := Block{Number: number, Hash: hash, First: math.MaxInt64, Last: math.MinInt64}
	names, words, parts := map[string]uint64{}, map[string]bool{}, map[string]bool{}
	var texts, body []byte
	name := func(text string) uint64 {
		n, ok := names[text]
		if !ok {
			n = uint64(len(names))
			names[text] = n
			texts = append(binary.AppendUvarint(texts, uint64(len(text))), text...)
		}
		return n
	}
	seq, at := number*BlockSize, int64(0)
	for i := range records {
		r := &records[i]
		micros := r.Time.UnixMicro()
		b.First, b.Last = min(b.First, micros), max(b.Last, micros)
		body = binary.AppendVarint(body, r.Seq-seq)
		body = binary.AppendVarint(body, micros-at)
		seq, at = r.Seq, micros
		body = append(body, flagsOf(r))
		for _, text := range summaryTexts(r) {
			body = binary.AppendUvarint(body, name(*text))
		}
		for _, n := range []int64{int64(r.Depth), int64(r.Rows), int64(r.Bytes), int64(r.Tokens), r.Micros, r.Cost} {
			body = binary.AppendVarint(body, n)
		}
		for _, w := range wordsOfRecord(r) {
			words[w] = true
			if hasParts(w) {
				parts[w] = true
			}
		}
	}
	b.Body = binary.AppendUvarint([]byte{blockForm}, uint64(len(names)))
	b.Body = append(append(b.Body, texts...), body...)
	b.Words, b.Names = slices.Sorted(maps.Keys(words)), slices.Sorted(maps.Keys(parts))
	return b
}

// summaryTexts returns the texts of r that a block has.
func summaryTexts(r *audit.Record) [11]*string {
	return [11]*string{&r.Principal, &r.Owner, &r.Tenant, &r.TokenID, &r.Correlation, &r.Tool, &r.Class, &r.Outcome, &r.Code, &r.Kind, &r.Change}
}

// Flags of a record in a block.
const flagPerson, flagStep, flagCheckpoint = 1, 2, 4

func flagsOf(r *audit.Record) (flags byte) {
	if r.Person {
		flags |= flagPerson
	}
	if r.Step != "" {
		flags |= flagStep
	}
	if r.Checkpoint != "" {
		flags |= flagCheckpoint
	}
	return flags
}

// summarized is the Step and the Checkpoint of a record from a block that has one.
const summarized = "-"

var errBlock = errors.New("a block of the audit can't be read")

// Records returns the summarized records in order. They have no Hash, and of the other fields only those that searches
// and sums need. They replace those in buf.
func (b Block) Records(buf []audit.Record) ([]audit.Record, error) {
	in := blockReader{rest: b.Body}
	if in.octet() != blockForm {
		return nil, errBlock
	}
	count := in.number()
	if count > uint64(len(in.rest)) {
		return nil, errBlock
	}
	names := make([]string, count)
	for i := range names {
		names[i] = in.text(in.number())
	}
	out := slices.Grow(buf[:0], BlockSize)
	seq, at := b.Number*BlockSize, int64(0)
	for len(in.rest) > 0 && !in.bad {
		if len(out) == BlockSize {
			return nil, errBlock
		}
		out = out[:len(out)+1]
		r := &out[len(out)-1]
		seq, at = seq+in.signed(), at+in.signed()
		r.Seq, r.Time = seq, time.UnixMicro(at).UTC()
		flags := in.octet()
		r.Person, r.Step, r.Checkpoint = flags&flagPerson != 0, "", ""
		if flags&flagStep != 0 {
			r.Step = summarized
		}
		if flags&flagCheckpoint != 0 {
			r.Checkpoint = summarized
		}
		for _, text := range summaryTexts(r) {
			if n := in.number(); n < count {
				*text = names[n]
			} else {
				in.bad = true
			}
		}
		r.Depth, r.Rows, r.Bytes, r.Tokens = int(in.signed()), int(in.signed()), int(in.signed()), int(in.signed())
		r.Micros, r.Cost = in.signed(), in.signed()
	}
	if in.bad {
		return nil, errBlock
	}
	return out, nil
}

// A blockReader reads the parts of a block. bad is true after a missing part.
type blockReader struct {
	rest []byte
	bad  bool
}

func (r *blockReader) octet() byte {
	if len(r.rest) == 0 {
		r.bad = true
		return 0
	}
	b := r.rest[0]
	r.rest = r.rest[1:]
	return b
}

func (r *blockReader) number() uint64 {
	n, size := binary.Uvarint(r.rest)
	if size <= 0 {
		r.bad, r.rest = true, nil
		return 0
	}
	r.rest = r.rest[size:]
	return n
}

func (r *blockReader) signed() int64 {
	n, size := binary.Varint(r.rest)
	if size <= 0 {
		r.bad, r.rest = true, nil
		return 0
	}
	r.rest = r.rest[size:]
	return n
}

func (r *blockReader) text(size uint64) string {
	if size > uint64(len(r.rest)) {
		r.bad, r.rest = true, nil
		return ""
	}
	text := string(r.rest[:size])
	r.rest = r.rest[size:]
	return text
}

// The kinds of words of a record. Each is the first letter of a word.
const (
	wordAgent, wordTool, wordClass, wordOutcome = "a", "t", "l", "u"
	wordTenant, wordReason, wordID              = "n", "x", "i"
)

// hasParts reports whether a search finds parts of a word. Of tools, outcomes and tenants it finds the whole word, and of
// ids the beginning.
func hasParts(word string) bool { return strings.Contains(wordAgent+wordClass+wordReason, word[:1]) }

// wordsOfRecord returns the words by which r is found.
func wordsOfRecord(r *audit.Record) (out []string) {
	for _, w := range [][2]string{{wordAgent, r.Principal}, {wordAgent, r.Owner}, {wordTool, r.Tool}, {wordClass, r.Class}, {wordOutcome, r.Outcome},
		{wordTenant, r.Tenant}, {wordReason, r.Code}, {wordReason, r.Kind}, {wordID, r.Correlation}, {wordID, r.Change}} {
		if w[1] != "" {
			out = append(out, recordWord(w[0], w[1]))
		}
	}
	return out
}

// recordWord returns the word of a text. A long text is cut: then the block is read in vain at most.
func recordWord(kind, text string) string {
	text = word(strings.ToLower(text))
	if len(text) > 200 {
		text = strings.ToValidUTF8(text[:200], "")
	}
	return kind + text
}
