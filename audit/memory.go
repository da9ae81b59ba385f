package audit

import (
	"context"
	"sort"
	"sync"
)

// Memory is a Log and Reader in memory, for tests and for embedding without a store. It grows with every call and is
// lost with the process. The zero Memory is empty and ready to use.
type Memory struct {
	mu      sync.RWMutex
	records []Record
	head    Head
	steps   map[string]int // indexes of the records of steps
}

// Append implements Log. It keeps a copy of r.
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

// Records implements Reader. It may omit records that are appended during the walk.
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

// Backwards implements Reader.
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

// Find implements Reader.
func (m *Memory) Find(_ context.Context, step string) (Record, bool, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	at, ok := m.steps[step]
	if !ok {
		return Record{}, false, nil
	}
	return m.records[at].Copy(), true, nil
}

// Head implements Reader.
func (m *Memory) Head(context.Context) (Head, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.head, nil
}

// all returns the records so far, which must not be modified.
func (m *Memory) all() []Record {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.records
}
