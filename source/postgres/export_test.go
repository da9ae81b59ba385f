package postgres

// SetEncoding makes s write statements for a database with another encoding.
func SetEncoding(s *Source, encoding string) { s.encoding = encoding }
