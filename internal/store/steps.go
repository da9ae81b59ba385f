package store

import (
	"encoding/hex"

	"github.com/bailiwick-dev/bailiwick/audit"
)

// RecordBody returns a record in the stored form of an outbox: its canonical form, without a place in the chain.
func RecordBody(r *audit.Record) string {
	sealed := r.Copy()
	audit.Seal(audit.Head{Seq: -1}, &sealed)
	return string(sealed.AppendCanonical(nil))
}

// DecodeOutbox decodes the records of an outbox.
func DecodeOutbox(bodies []string) ([]audit.Record, error) {
	var out []audit.Record
	for _, body := range bodies {
		r, err := audit.Parse([]byte(body))
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

// Record decodes r. If its text is not a record, the error is an *audit.Damage.
func (r *RecordRow) Record() (audit.Record, error) {
	record, err := audit.Parse(r.Body)
	if err != nil {
		return record, &audit.Damage{Seq: r.Seq, Last: r.Seq, Kind: audit.Altered, Detail: "its text is not what a record's is"}
	}
	record.Prev, record.Hash = hex.EncodeToString(r.Prev), hex.EncodeToString(r.Hash)
	return record, nil
}
