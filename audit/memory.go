package audit

import (
	"context"
	"sort"
	"sync"
)

// Memory is a Log and Reader that keeps everything in memory, for tests and for embedding without a store. It grows
// with every call and is gone with the process. The zero Memory is empty and ready.
type Memory struct {
	mu      sync.RWMutex
	records []Record
	head    Head
	steps   map[string]int // where the records of steps are
}

// Append seals r behind the last record and keeps a copy.
func (m *Memory) Append(ctx context.Context, r *Record) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if at, ok := m.steps[r.Step]; ok {
		*r = m.records[at].Copy()
		return nil
	}
	m.head = Seal(m.head, r)
	if r.Step != "" {
		if m.steps == nil {
			m.steps = map[string]int{}
		}
		m.steps[r.Step] = len(m.records)
	}
	m.records = append(m.records, r.Copy())
	return nil
}

// Records walks forwards; records that come while it walks may be left out.
func (m *Memory) Records(ctx context.Context, from int64, yield func(Record) bool) error {
	all := m.all()
	for _, r := range all[sort.Search(len(all), func(i int) bool { return all[i].Seq >= from }):] {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !yield(r) {
			return nil
		}
	}
	return nil
}

// Backwards walks backwards.
func (m *Memory) Backwards(ctx context.Context, from int64, yield func(Record) bool) error {
	all := m.all()
	for i := len(all) - 1; i >= 0; i-- {
		if err := ctx.Err(); err != nil {
			return err
		}
		if all[i].Seq <= from && !yield(all[i]) {
			return nil
		}
	}
	return nil
}

// Find returns the record of a step.
func (m *Memory) Find(_ context.Context, step string) (Record, bool, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	at, ok := m.steps[step]
	if !ok {
		return Record{}, false, nil
	}
	return m.records[at].Copy(), true, nil
}

// Head returns the end of the chain.
func (m *Memory) Head(context.Context) (Head, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.head, nil
}

// all returns the records so far; what is in the slice never changes.
func (m *Memory) all() []Record {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.records
}
