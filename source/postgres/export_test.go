package postgres

// SetEncoding makes s write statements as for a database in another encoding.
func SetEncoding(s *Source, encoding string) { s.encoding = encoding }
