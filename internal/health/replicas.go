package health

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Lasting is the maximum age of a row, by the clock of the store. Older rows are ignored and removed.
const Lasting = 35 * time.Second

// MaxClock is the largest difference between the clocks of a process and of the store that is not reported.
const MaxClock = 2 * time.Second

// A ReplicaRow describes a process. The process writes it.
type ReplicaRow struct {
	ID      string        // random, unique to the process
	Name    string        // host and process, for operators
	Rules   string        // the version of the rules in force
	Key     string        // the KeyID of the key that signs the audit log
	Program string        // the version of the program
	Clock   time.Duration // how far the clock of the process is ahead of the clock of the store
}

// A ReplicaStore stores the rows of all processes that share it. It is safe for concurrent use.
type ReplicaStore interface {
	// Beat stores r with the current time, and replaces the row with the same ID. It also removes rows that are too
	// old. It returns the time of the store.
	Beat(ctx context.Context, r ReplicaRow) (time.Time, error)
	// Replicas returns the rows that are not too old, sorted by Name and ID.
	Replicas(ctx context.Context) ([]ReplicaRow, error)
	// Leave removes the row with this ID.
	Leave(ctx context.Context, id string) error
}

// KeyID returns an identifier of a public key. It reveals nothing about the private key.
func KeyID(key ed25519.PublicKey) string {
	sum := sha256.Sum256(append([]byte("bailiwick audit key "), key...))
	return hex.EncodeToString(sum[:6])
}

// A DifferenceKind is a kind of difference between processes.
type DifferenceKind string

// The kinds of differences.
const (
	DifferentRules   DifferenceKind = "rules"
	DifferentKey     DifferenceKind = "audit_key"
	DifferentProgram DifferenceKind = "program"
	DifferentClock   DifferenceKind = "clock"
)

// DifferenceKinds returns all kinds of differences.
func DifferenceKinds() []DifferenceKind {
	return []DifferenceKind{DifferentRules, DifferentKey, DifferentProgram, DifferentClock}
}

// Differs returns the kinds of differences between r and own. A clock counts as different if it differs too much from
// the clock of the store.
func (r ReplicaRow) Differs(own ReplicaRow) []DifferenceKind {
	var out []DifferenceKind
	for kind, differs := range map[DifferenceKind]bool{DifferentRules: r.Rules != own.Rules, DifferentKey: r.Key != own.Key, DifferentProgram: r.Program != own.Program, DifferentClock: r.Clock.Abs() > MaxClock} {
		if differs {
			out = append(out, kind)
		}
	}
	slices.Sort(out)
	return out
}

// Describe describes the differences between r and own for operators. It returns "" if there are none.
func (r ReplicaRow) Describe(own ReplicaRow) string {
	var parts []string
	for _, kind := range r.Differs(own) {
		switch kind {
		case DifferentRules:
			parts = append(parts, fmt.Sprintf("rules %s, not %s", r.Rules, own.Rules))
		case DifferentKey:
			parts = append(parts, fmt.Sprintf("audit key %s, not %s", r.Key, own.Key))
		case DifferentProgram:
			parts = append(parts, fmt.Sprintf("program %s, not %s", r.Program, own.Program))
		case DifferentClock:
			ahead := "ahead of"
			if r.Clock < 0 {
				ahead = "behind"
			}
			parts = append(parts, "clock "+ahead+" the store's")
		}
	}
	if parts == nil {
		return ""
	}
	return r.Name + ": " + strings.Join(parts, "; ")
}

// A ReplicaState is the result of comparing this process with the others that share its store.
type ReplicaState struct {
	Replicas int                    // number of processes, including this one. 0 if unknown
	Differ   int                    // number of other processes that differ from this one
	Kinds    map[DifferenceKind]int // number of other processes that differ, by the kind of difference
	Clock    time.Duration          // how far the clock of this process is ahead of the clock of the store
}

// compare compares own with all rows. The rows include own.
func compare(rows []ReplicaRow, own ReplicaRow) (s ReplicaState, described []string) {
	s = ReplicaState{Replicas: 1, Kinds: map[DifferenceKind]int{}, Clock: own.Clock}
	for _, r := range rows {
		if r.ID == own.ID {
			continue
		}
		s.Replicas++
		kinds := r.Differs(own)
		if kinds == nil {
			continue
		}
		s.Differ++
		for _, kind := range kinds {
			s.Kinds[kind]++
		}
		described = append(described, r.Describe(own))
	}
	return s, described
}

// Notes returns the public part of the state. It contains numbers and kinds, but no names.
func (s ReplicaState) Notes() []string {
	var out []string
	if s.Differ > 0 {
		var kinds []string
		for _, kind := range DifferenceKinds() {
			if s.Kinds[kind] > 0 {
				kinds = append(kinds, string(kind))
			}
		}
		out = append(out, fmt.Sprintf("replicas: %d of %d differ from this one, in %s. The log names them", s.Differ, s.Replicas, strings.Join(kinds, ", ")))
	}
	if s.Clock.Abs() > MaxClock {
		out = append(out, fmt.Sprintf("clock: this machine and the store differ by more than %d s", int(MaxClock.Seconds())))
	}
	return out
}
