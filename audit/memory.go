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
}

// Append seals r behind the last record and keeps a copy.
func (m *Memory) Append(ctx context.Context, r *Record) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.head = Seal(m.head, r)
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
