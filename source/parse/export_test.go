package parse

// SetPage sets the number of records per request of s.
func (s *Source) SetPage(n int) { s.page = n }
