package identity

// Cached returns how many tokens are remembered.
func (t *Tokens) Cached() int {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return len(t.known)
}

// WellFormed reports whether text has the form of a token.
func WellFormed(text string) bool { return wellFormed(text) }
