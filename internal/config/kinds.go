package config

import (
	"slices"
	"strings"
)

// A Kind is a kind of source that a url can name: how it is named, and which keys it takes. The zero Kind is that of a url which names none.
type Kind struct {
	Name      string   // for people
	Schemes   []string // what its URLs begin with
	Elsewhere bool     // another program opens it

	SQL         bool   // it is an SQL database
	File        bool   // the URL is a path, so that it has no accounts
	ReadOnly    bool   // it is only read
	Home        string // the schema of tables that name none, if it isn't public
	Schemas     bool   // it takes schemas
	Tenants     bool   // it takes schema and template, for one schema per tenant
	NoTenants   string // why it takes no schema and template, if there is more to say
	SSH         bool   // it takes ssh
	LocalRows   bool   // it takes local_rows: it computes only a part of some queries
	Collections bool   // it takes collections
	Password    string // the environment variable from which its own programs take a password, or ""

	read func(s *Source, folder, raw string) string // reads its url and returns what is wrong with it, or nil: every url is right
}

// Kinds returns the kinds of sources. A new database is a line here and one in internal/app.
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

// KindOf returns the kind of source that a url names.
func KindOf(url string) Kind {
	scheme, _, _ := strings.Cut(url, ":")
	for _, k := range Kinds() {
		if slices.Contains(k.Schemes, scheme) {
			return k
		}
	}
	return Kind{}
}

// Kind returns the kind of the source, by its url.
func (s Source) Kind() Kind { return KindOf(s.URL) }

// Beginnings returns what the urls of sources can begin with, for messages.
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

// namesOf returns the names of the kinds that is selects, for messages.
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

// readFile reads the url of a file. A relative path begins at folder.
func readFile(s *Source, folder, raw string) string {
	scheme, path, _ := strings.Cut(raw, ":")
	if path == "" || path == "//" {
		return "needs a path after " + scheme + ":"
	}
	s.URL = scheme + ":" + pathFrom(folder, path)
	return ""
}

// readMongoDB reads the url of a MongoDB database.
func readMongoDB(s *Source, _, raw string) string {
	if !mongoURL.MatchString(raw) {
		return "is not a URL such as mongodb://user:password@host/database; write reserved characters in a password as %XX"
	}
	s.URL = raw
	return ""
}
