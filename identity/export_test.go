package identity

// Cached returns the number of cached tokens.
func (t *Tokens) Cached() int {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return len(t.known)
}

// WellFormed reports whether text has the form of a token.
func WellFormed(text string) bool { return hasTokenForm(text) }
