package identity

// Cached returns the number of cached tokens.
func (t *Tokens) Cached() int {
	t.known.mu.RLock()
	defer t.known.mu.RUnlock()
	return len(t.known.kept)
}

// WellFormed reports whether text has the form of a token.
func WellFormed(text string) bool { return hasTokenForm(text) }
