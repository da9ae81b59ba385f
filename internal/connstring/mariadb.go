package connstring

import (
	"errors"
	"net/url"
	"strings"
)

// mariadbOptions contains the options of the MariaDB and MySQL drivers.
var mariadbOptions = func() map[string]option {
	out := map[string]option{
		"tls": {as: "tls"}, "socket": {as: "socket"}, "unix_socket": {as: "socket"}, "socketpath": {as: "socket"}, "localsocket": {as: "socket"},
		"user": {as: "user"}, "password": {as: "password"},
		"ssl": {as: "ssl"}, "usessl": {as: "ssl"}, "requiressl": {as: "ssl"}, "sslmode": {as: "sslmode"}, "ssl-mode": {as: "sslmode"}, "ssl_mode": {as: "sslmode"}, "sslaccept": {as: "sslmode"},
	}
	for _, key := range strings.Fields("sslcert sslidentity sslca ssl_ca ssl-ca ssl_cert ssl_key serversslcert truststore trustcertificatekeystoreurl clientcertificatekeystoreurl") {
		out[key] = option{why: "has an option for a certificate file, which is not supported: add the authority to those of the system, and write tls=true"}
	}
	// These options concern how another driver handles connections, or settings that the gateway makes itself.
	for _, other := range strings.Fields("charset collation characterencoding useunicode connectioncollation servertimezone timezone time_zone connectiontimezone sql_mode autocommit parsetime loc connection_limit " +
		"pool_timeout connect_timeout connecttimeout socket_timeout sockettimeout statement_cache_size allowpublickeyretrieval zerodatetimebehavior tinyint1isbit rewritebatchedstatements cacheprepstmts " +
		"prepstmtcachesize prepstmtcachesqllimit useserverprepstmts autoreconnect maxallowedpacket charset_name binary_prefix pool_recycle usecursorfetch uselegacydatetimecode multistatements allowmultiqueries") {
		out[other] = option{}
	}
	return out
}()

// mariadb parses the part of a URL after "mariadb://".
func mariadb(scheme, rest string) (Parsed, error) {
	l, ok := locate(rest)
	if !ok || len(l.hosts) != 1 || l.database == "" {
		return Parsed{}, errMariaDB
	}
	set := url.Values{}
	err := readOptions(l.options, mariadbOptions, func(as, v string) error {
		switch as {
		case "user":
			l.user = v
			return nil
		case "password":
			l.password, l.given = v, true
			return nil
		case "ssl", "sslmode":
			tls, ok := map[string]string{"true": "true", "1": "true", "false": "false", "0": "false", "disabled": "false", "disable": "false", "preferred": "preferred", "required": "skip-verify", "require": "skip-verify",
				"trust": "skip-verify", "accept_invalid_certs": "skip-verify", "verify_ca": "true", "verify-ca": "true", "verify_identity": "true", "verify-full": "true", "strict": "true"}[strings.ToLower(v)]
			if !ok {
				return errors.New("has an unknown value of its TLS mode: write tls=true, tls=skip-verify, tls=preferred or tls=false")
			}
			if !set.Has("tls") {
				set.Set("tls", tls)
			}
			return nil
		}
		set.Set(as, v)
		return nil
	})
	if err != nil {
		return Parsed{}, err
	}
	if l.hosts[0] == "" && !set.Has("socket") {
		return Parsed{}, errMariaDB
	}
	u := url.URL{Scheme: scheme, Path: "/" + l.database, Host: l.hosts[0], RawQuery: set.Encode()}
	if strings.Contains(u.Host, ":") {
		u.Host = "[" + u.Host + "]"
	}
	if l.ports[0] != "" {
		u.Host += ":" + l.ports[0]
	}
	if l.user != "" || l.given {
		u.User = url.User(l.user)
		if l.given {
			u.User = url.UserPassword(l.user, l.password)
		}
	}
	return Parsed{URL: u.String()}, nil
}
