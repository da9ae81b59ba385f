package audit

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// LostTool is the Tool of a record that says that the log lacks records which were in it before.
const LostTool = "audit.lost"

// lostStep begins the Step of such a record. The Seq and the Hash of a record that is gone follow.
const lostStep = "lost:"

// LossOf returns the record that says that gone, which a process had appended, is not in the log any more. The chain is whole, and only such a
// process knows.
func LossOf(gone Head) Record {
	return Record{Time: time.Now(), Principal: "gateway", Tool: LostTool, Outcome: Failed, Step: lostStep + strconv.FormatInt(gone.Seq, 10) + ":" + gone.Hash, Digest: gone.Hash}
}

// lose notes the loss that r says, if r is the record of one.
func (c *checker) lose(r *Record) {
	gone, ok := strings.CutPrefix(r.Step, lostStep)
	if r.Tool != LostTool || !ok {
		return
	}
	seq, hash, _ := strings.Cut(gone, ":")
	c.add(r.Seq, r.Seq, Lost, fmt.Sprintf("a process had appended record %s with the hash %s, and the store lacked it later. The store was restored or replaced while the process ran, or its end was removed", seq, hash))
}
