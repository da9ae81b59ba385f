package parse

// SetPage sets how many records s asks for at once.
func (s *Source) SetPage(n int) { s.page = n }
