package config

import (
	"slices"
	"strings"
)

// A Kind is a kind of source that a url can name, with its name and the keys that it supports. The zero Kind is the
// kind of an unknown url.
type Kind struct {
	Name      string   // for people
	Schemes   []string // the schemes of its URLs
	Elsewhere bool     // another program opens it

	SQL         bool   // it is an SQL database
	File        bool   // the URL is a path, so there are no accounts
	ReadOnly    bool   // it can't be written
	Home        string // the schema of tables without a schema, if it isn't public
	Schemas     bool   // it supports the key schemas
	Tenants     bool   // it supports schema and template, for one schema per tenant
	NoTenants   string // why it doesn't support schema and template, if there is more to say
	SSH         bool   // it supports ssh
	LocalRows   bool   // it supports local_rows: it computes only a part of some queries
	Collections bool   // it supports collections
	Password    string // the environment variable from which the kind's own programs read a password, or ""

	read func(s *Source, folder, raw string) string // parses the url and returns the fault in it. Nil accepts every url
}

// Kinds returns the kinds of sources. A new database needs a line here and one in internal/app.
func Kinds() []Kind {
	return []Kind{
		{Name: "SQLite", Schemes: []string{"sqlite"}, SQL: true, File: true, read: readFile},
		{Name: "PostgreSQL", Schemes: []string{"postgres", "postgresql"}, SQL: true, Schemas: true, Tenants: true, SSH: true, Password: "PGPASSWORD"},
		{Name: "MariaDB", Schemes: []string{"mariadb", "mysql"}, SQL: true, SSH: true, Password: "MYSQL_PWD",
			NoTenants: "In MariaDB a schema is a database, and a source reads the one of its url. Write a source for the database of each tenant, or take the key out"},
		{Name: "MongoDB", Schemes: []string{"mongodb", "mongodb+srv"}, LocalRows: true, Collections: true, read: readMongoDB},
		{Name: "Parse Server", Schemes: []string{"parse+https", "parse+http"}, LocalRows: true, read: func(s *Source, _, raw string) string { return s.setParse(raw) }},
		{Name: "DuckDB", Schemes: []string{"duckdb"}, Elsewhere: true, SQL: true, File: true, ReadOnly: true, Home: "main", Schemas: true, LocalRows: true, read: readFile},
	}
}

// KindOf returns the kind of source of a url.
func KindOf(url string) Kind {
	scheme, _, _ := strings.Cut(url, ":")
	for _, k := range Kinds() {
		if slices.Contains(k.Schemes, scheme) {
			return k
		}
	}
	return Kind{}
}

// Kind returns the kind of the source, determined by its url.
func (s Source) Kind() Kind { return KindOf(s.URL) }

// Beginnings returns the possible beginnings of source urls, for messages.
func Beginnings() string {
	var all []string
	for _, k := range Kinds() {
		switch {
		case k.Elsewhere:
		case k.File:
			all = append(all, k.Schemes[0]+":")
		default:
			all = append(all, k.Schemes[0]+"://")
		}
	}
	return strings.Join(all[:len(all)-1], ", ") + " or " + all[len(all)-1]
}

// namesOf returns the names of the kinds for which is returns true, for messages.
func namesOf(is func(Kind) bool) string {
	var names []string
	for _, k := range Kinds() {
		if is(k) {
			names = append(names, k.Name)
		}
	}
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// readFile parses the url of a file. A relative path begins at folder.
func readFile(s *Source, folder, raw string) string {
	scheme, path, _ := strings.Cut(raw, ":")
	if path == "" || path == "//" {
		return "needs a path after " + scheme + ":"
	}
	s.URL = scheme + ":" + pathFrom(folder, path)
	return ""
}

// readMongoDB parses the url of a MongoDB database.
func readMongoDB(s *Source, _, raw string) string {
	if !mongoURL.MatchString(raw) {
		return "is not a URL such as mongodb://user:password@host/database. Write reserved characters in a password as %XX"
	}
	s.URL = raw
	return ""
}
