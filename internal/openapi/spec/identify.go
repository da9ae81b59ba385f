package spec

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"
)

// maxID is the maximum length of a declared operationId in bytes.
const maxID = 200

// identify sets the id of every operation. A declared operationId is used unchanged. A duplicate or invalid
// operationId is replaced by an id made from method and path. Made ids depend only on method and path. If two made
// ids are equal, both are made from the whole path. If they are still equal, a hash of the path is added.
func (d *Document) identify(all []*Operation) {
	var rest []*Operation
	for _, op := range all {
		switch {
		case op.ID == "":
			rest = append(rest, op)
		case len(op.ID) > maxID || !plain(op.ID):
			d.warn(op.Name(), "its operationId is no name. The id is made from method and path")
			rest = append(rest, op)
		case d.byID[op.ID] != nil:
			d.warn(op.Name(), "its operationId %q is %s's too. The id is made from method and path", op.ID, d.byID[op.ID].Name())
			rest = append(rest, op)
		default:
			d.byID[op.ID], op.Declared = op, true
		}
	}
	for _, make := range []func(*Operation) string{shortID, longID, hashID} {
		groups := map[string]int{}
		for _, op := range rest {
			groups[make(op)]++
		}
		var again []*Operation
		for _, op := range rest {
			id := make(op)
			if groups[id] > 1 || d.byID[id] != nil {
				again = append(again, op)
				continue
			}
			op.ID = id
			d.byID[id] = op
		}
		rest = again
	}
}

func plain(id string) bool {
	return strings.IndexFunc(id, func(r rune) bool { return r < ' ' || r == 0x7f || r == '�' }) < 0 && strings.TrimSpace(id) == id
}

// prefix matches the start of a path if it doesn't identify a resource: /api/v1.
var prefix = regexp.MustCompile(`^(?:/(?:api|rest|v[0-9][0-9a-z.]*))+(?:/|$)`)

func shortID(op *Operation) string {
	path := op.Path
	if at := prefix.FindString(path); len(at) < len(path) {
		path = path[len(at):]
	}
	return id(op.Method, path)
}

func longID(op *Operation) string { return id(op.Method, op.Path) }

func hashID(op *Operation) string {
	sum := sha256.Sum256([]byte(op.Path))
	return longID(op) + "_" + hex.EncodeToString(sum[:4])
}

// id joins the method and the words of a path: get_teams_teamId_applications.
func id(method, path string) string {
	words := strings.FieldsFunc(path, func(r rune) bool {
		return !(r == '-' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || r > 0x7f)
	})
	out := strings.Join(append([]string{strings.ToLower(method)}, words...), "_")
	if len(out) > maxID {
		out = out[:maxID]
	}
	return strings.ToValidUTF8(out, "")
}
