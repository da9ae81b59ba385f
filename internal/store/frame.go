package store

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"math"

	"github.com/bailiwick-dev/bailiwick/audit"
)

// A frame is a header of headerSize bytes and the records of one batch. A record is the length of its body in four
// bytes, its hash and its body. Numbers are little-endian. The header contains:
//
//	 0 magic, which no text of a record can contain
//	 8 the size of what follows the header
//	12 CRC-32C of the frame without these four bytes and the magic
//	16 the Seq of the first record
//	24 the number of records, in eight bytes
//	32 the hash before the first record; zero for the first record of all
const (
	magic      = "\xff\x00BWJ1\x00\xfe"
	headerSize = 64
	hashSize   = 32
	sumAt      = 12
)

// appendFrame seals the batch onto the head prev, and appends the frame of the batch to dst.
func appendFrame(dst []byte, prev audit.Head, batch []*audit.Record) ([]byte, audit.Head, error) {
	start := len(dst)
	dst = append(dst, make([]byte, headerSize)...)
	header := func(at int) []byte { return dst[start+at:] }
	copy(header(0), magic)
	binary.LittleEndian.PutUint64(header(16), uint64(prev.Seq+1))
	binary.LittleEndian.PutUint64(header(24), uint64(len(batch)))
	if _, err := hex.Decode(header(32)[:hashSize], []byte(prev.Hash)); err != nil || len(prev.Hash) > 2*hashSize {
		return dst, prev, fmt.Errorf("the hash of record %d is %q", prev.Seq, prev.Hash)
	}
	head := prev
	for _, r := range batch {
		at := len(dst)
		dst = append(dst, make([]byte, 4+hashSize)...)
		dst, head = audit.AppendSealedRecord(dst, head, r)
		binary.LittleEndian.PutUint32(dst[at:], uint32(len(dst)-at-4-hashSize))
		if _, err := hex.Decode(dst[at+4:at+4+hashSize], []byte(head.Hash)); err != nil {
			return dst, prev, err
		}
	}
	size := len(dst) - start - headerSize
	if size > math.MaxInt32 {
		return dst, prev, fmt.Errorf("%d records have %d bytes", len(batch), size)
	}
	binary.LittleEndian.PutUint32(header(8), uint32(size))
	binary.LittleEndian.PutUint32(header(sumAt), sum(dst[start:]))
	return dst, head, nil
}

// sum returns the checksum of a frame.
func sum(frame []byte) uint32 {
	table := crc32.MakeTable(crc32.Castagnoli)
	return crc32.Update(crc32.Checksum(frame[8:sumAt], table), table, frame[sumAt+4:])
}

// A frame is a complete frame of a segment.
type frame struct {
	at, end int64 // the positions of its beginning and its end in the segment
	first   int64 // the Seq of its first record
	count   int64
	data    []byte
}

// next returns the first complete frame at or after from. ok is false if there is none. whole reports that the frame
// begins at from, or that there is no frame. A segment may end with a frame that was not written completely.
func next(data []byte, from int64) (f frame, whole, ok bool) {
	for at := from; ; at++ {
		n := bytes.Index(data[min(at, int64(len(data))):], []byte(magic))
		if n < 0 {
			return frame{}, true, false
		}
		at += int64(n)
		rest := data[at:]
		if len(rest) < headerSize {
			continue
		}
		size := int64(binary.LittleEndian.Uint32(rest[8:])) + headerSize
		if size > int64(len(rest)) || sum(rest[:size]) != binary.LittleEndian.Uint32(rest[sumAt:]) {
			continue
		}
		f = frame{at: at, end: at + size, first: int64(binary.LittleEndian.Uint64(rest[16:])), count: int64(binary.LittleEndian.Uint64(rest[24:])), data: rest[:size]}
		return f, at == from, true
	}
}

// rows appends the frame's records to dst. ok is false if the frame has a valid checksum but another form than
// appendFrame writes.
func (f frame) rows(dst []RecordRow) (_ []RecordRow, ok bool) {
	prev, rest := f.data[32:headerSize], f.data[headerSize:]
	if f.first == 1 {
		prev = []byte{}
	}
	for i := range f.count {
		if len(rest) < 4+hashSize {
			return dst, false
		}
		hash, size := rest[4:4+hashSize], int(binary.LittleEndian.Uint32(rest))
		rest = rest[4+hashSize:]
		if size > len(rest) {
			return dst, false
		}
		dst = append(dst, RecordRow{Seq: f.first + i, Prev: prev, Hash: hash, Body: rest[:size]})
		prev, rest = hash, rest[size:]
	}
	return dst, len(rest) == 0
}

// journalRead returns the records of a segment. whole is false if there are other bytes between them.
func journalRead(data []byte) (rows []RecordRow, whole bool) {
	whole = true
	for at := int64(0); ; {
		f, follows, ok := next(data, at)
		whole = whole && follows
		if !ok {
			return rows, whole
		}
		var well bool
		rows, well = f.rows(rows)
		whole, at = whole && well, f.end
	}
}

// ends returns the end of the last frame after from, and the last record of that frame. If there is no frame, it
// returns from and the zero Head.
func ends(data []byte, from int64) (end int64, head audit.Head) {
	end = from
	for {
		f, _, ok := next(data, end)
		if !ok {
			return end, head
		}
		if rows, _ := f.rows(nil); len(rows) > 0 {
			last := rows[len(rows)-1]
			head = audit.Head{Seq: last.Seq, Hash: hex.EncodeToString(last.Hash)}
		}
		end = f.end
	}
}

// A journalMark is written to the file "lock" after each batch, without a sync. It shows other processes that this
// process has appended. It also shows that a segment was cut, or that the tables end before records that they had.
type journalMark struct {
	name string // the segment that is appended to, or ""
	end  int64  // the end of the appended frames, or faulty, or journalSettled
	head audit.Head
}

// Special values of journalMark.end. faulty: a write failed, and records must go to the tables. journalSettled: the
// tables have all records up to head.
const faulty, journalSettled = -1, -2

const nameSize, markSize = 33, 33 + 8 + 8 + hashSize + 4

// setMark writes the mark into the lock file, with a checksum. The mark contains the segment, its synced end and the
// head at that end. The caller holds the lock.
func (j *Journal) setMark(m journalMark) error {
	b := make([]byte, markSize)
	copy(b, m.name)
	binary.LittleEndian.PutUint64(b[nameSize:], uint64(m.end))
	binary.LittleEndian.PutUint64(b[nameSize+8:], uint64(m.head.Seq))
	if _, err := hex.Decode(b[nameSize+16:][:hashSize], []byte(m.head.Hash)); err != nil {
		return err
	}
	binary.LittleEndian.PutUint32(b[markSize-4:], crc32.ChecksumIEEE(b[:markSize-4]))
	j.mark = b
	_, err := j.lockFile.WriteAt(b, 0)
	return err
}

// getMark returns the mark and its bytes, or nil and the zero mark.
func (j *Journal) getMark() ([]byte, journalMark) {
	b := make([]byte, markSize)
	if n, _ := j.lockFile.ReadAt(b, 0); n < markSize || crc32.ChecksumIEEE(b[:markSize-4]) != binary.LittleEndian.Uint32(b[markSize-4:]) {
		return nil, journalMark{}
	}
	m := journalMark{name: string(bytes.TrimRight(b[:nameSize], "\x00")), end: int64(binary.LittleEndian.Uint64(b[nameSize:])),
		head: audit.Head{Seq: int64(binary.LittleEndian.Uint64(b[nameSize+8:]))}}
	if m.head.Seq > 0 {
		m.head.Hash = hex.EncodeToString(b[nameSize+16:][:hashSize])
	}
	return b, m
}
