package mongodb

// Clients returns the number of open clients for reading and for writing.
func (w *Writable) Clients() (reading, writing int) {
	for a, n := range map[*account]*int{w.account: &reading, w.writer: &writing} {
		a.mu.Lock()
		*n = len(a.open)
		a.mu.Unlock()
	}
	return reading, writing
}
