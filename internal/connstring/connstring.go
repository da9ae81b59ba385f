// Package connstring parses the connection strings of applications: URLs and keywords of libpq, and the strings of
// Prisma, JDBC, SQLAlchemy and Node. It returns them in the form that the sources accept.
//
// Errors contain no part of the string, because any part can be a password that was not encoded.
package connstring

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// A Parsed is a connection string in the form that the sources accept.
type Parsed struct {
	URL     string   // begins with postgres:// or mariadb://, or is the unchanged string if it is of another kind
	Schemas []string // the schemas in the string, or nil
}

var (
	jdbc    = regexp.MustCompile(`^jdbc:(postgresql|mariadb|mysql|sqlite):`)
	drivers = regexp.MustCompile(`^(postgres|postgresql|mysql|mariadb|sqlite)\+[a-z0-9_]+:`)
	keyword = regexp.MustCompile(`^\s*[a-z_]+\s*=`)
)

// Parse parses a connection string. It returns strings of unknown kinds unchanged.
func Parse(raw string) (Parsed, error) {
	java := jdbc.MatchString(raw)
	text := strings.TrimPrefix(raw, "jdbc:")
	if m := drivers.FindStringSubmatch(text); m != nil {
		_, rest, _ := strings.Cut(text, ":")
		text = m[1] + ":" + rest
		if m[1] == "sqlite" { // the forms are sqlite:///relative and sqlite:////absolute
			text = "sqlite:" + strings.TrimPrefix(rest, "///")
		}
	}
	scheme, rest, _ := strings.Cut(text, ":")
	switch {
	case scheme == "postgres" || scheme == "postgresql":
		rest, ok := strings.CutPrefix(rest, "//")
		if !ok {
			return Parsed{}, errPostgres
		}
		return postgres(scheme, rest, java)
	case scheme == "mysql" || scheme == "mariadb":
		rest, ok := strings.CutPrefix(rest, "//")
		if !ok {
			return Parsed{}, errMariaDB
		}
		return mariadb(scheme, rest)
	case keyword.MatchString(text):
		return keywords(text)
	}
	return Parsed{URL: text}, nil
}

var (
	errPostgres = errors.New("is not a URL such as postgres://user:password@host/database. Write reserved characters in a password as %XX")
	errMariaDB  = errors.New("is not a URL such as mariadb://user:password@host/database. Write reserved characters in a password as %XX")
)

// A location is the part of a URL before its options.
type location struct {
	user, password string
	given          bool // the URL has a password
	hosts, ports   []string
	database       string
	options        url.Values
}

// locate splits the part of a URL after "://". It returns false if a part is not encoded, because then the meaning of
// the URL is uncertain.
func locate(rest string) (l location, ok bool) {
	if strings.ContainsAny(rest, "# \t\r\n") {
		return l, false
	}
	before, query, _ := strings.Cut(rest, "?")
	authority, path, _ := strings.Cut(before, "/")
	if strings.Count(authority, "@") > 1 || strings.Contains(path, "@") {
		return l, false
	}
	info, hosts, found := strings.Cut(authority, "@")
	if !found {
		info, hosts = "", authority
	}
	user, password, given := strings.Cut(info, ":")
	decoded := func(s string) string {
		out, err := url.PathUnescape(s)
		ok = ok && err == nil && !strings.ContainsRune(out, 0)
		return out
	}
	ok = true
	l.user, l.password, l.given, l.database = decoded(user), decoded(password), given, decoded(path)
	for _, h := range strings.Split(hosts, ",") {
		host, port := h, ""
		if i := strings.LastIndexByte(h, ':'); i > strings.LastIndexByte(h, ']') {
			host, port = h[:i], h[i+1:]
		}
		if strings.Trim(port, "0123456789") != "" || !plainHost.MatchString(host) {
			return l, false
		}
		l.hosts, l.ports = append(l.hosts, strings.Trim(decoded(host), "[]")), append(l.ports, port)
	}
	var err error
	l.options, err = url.ParseQuery(query)
	return l, ok && err == nil
}

var plainHost = regexp.MustCompile(`^(\[[0-9A-Fa-f:.%]+\]|[A-Za-z0-9._~%-]*)$`)

// An option describes how to treat an option of a connection string. as is its name in the result, and why is the
// reason to refuse it. If both are "", the option is left out, because it only concerns another driver.
type option struct{ as, why string }

// readOptions reads the options of a URL, using a table of known options. Option names are compared without regard to
// case.
func readOptions(options url.Values, known map[string]option, take func(as, value string) error) error {
	for _, key := range slices.Sorted(keysOf(options)) {
		o, ok := known[strings.ToLower(key)]
		switch {
		case !ok:
			return fmt.Errorf("has an option that is not known here: leave it out. These are known: %s", strings.Join(optionNames(known), ", "))
		case o.why != "":
			return errors.New(o.why)
		case o.as == "":
			continue
		}
		if err := take(o.as, options.Get(key)); err != nil {
			return err
		}
	}
	return nil
}

func keysOf(v url.Values) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range v {
			if !yield(k) {
				return
			}
		}
	}
}

// optionNames returns the sorted names of options in the result.
func optionNames(known map[string]option) []string {
	var out []string
	for key, o := range known {
		if o.as == key {
			out = append(out, key)
		}
	}
	slices.Sort(out)
	return out
}
