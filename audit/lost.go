package audit

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// LostTool is the Tool of a record about lost records: the log had them before and now lacks them.
const LostTool = "audit.lost"

// lostStep is the beginning of the Step of such a record. Then come the Seq and the Hash of a lost record.
const lostStep = "lost:"

// LossOf returns the record about the loss of gone, which this process had appended and which is not in the log any
// more. The chain is intact, so only a process that appended records knows of the loss.
func LossOf(gone Head) Record {
	return Record{Time: time.Now(), Principal: "gateway", Tool: LostTool, Outcome: Failed, Step: lostStep + strconv.FormatInt(gone.Seq, 10) + ":" + gone.Hash, Digest: gone.Hash}
}

// lose notes the loss if r is a record of a loss.
func (c *checker) lose(r *Record) {
	gone, ok := strings.CutPrefix(r.Step, lostStep)
	if r.Tool != LostTool || !ok {
		return
	}
	seq, hash, _ := strings.Cut(gone, ":")
	c.add(r.Seq, r.Seq, Lost, fmt.Sprintf("a process had appended record %s with the hash %s, and the store lacked it later. The store was restored or replaced while the process ran, or its end was removed", seq, hash))
}
