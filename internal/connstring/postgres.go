package connstring

import (
	"errors"
	"net/url"
	"slices"
	"strings"
)

// postgresOptions contains the options of libpq, and the additional options of Prisma, JDBC, Node and SQLAlchemy.
var postgresOptions = func() map[string]option {
	out := map[string]option{
		"dbname": {as: "database"}, "sslmode": {as: "sslmode"}, "ssl": {as: "ssl"},
		"schema": {as: "schema"}, "currentschema": {as: "schema"}, "connection_limit": {as: "pool_max_conns"},
		"logintimeout": {as: "connect_timeout"}, "targetservertype": {as: "target_session_attrs"}, "sslaccept": {as: "sslaccept"},
		"hostaddr":     {why: "has the option hostaddr: write the address as the host"},
		"require_auth": {why: "has the option require_auth, which is not supported: leave it out, and restrict the methods in pg_hba.conf"},
		"requirepeer":  {why: "has the option requirepeer, which is not supported: leave it out, and restrict the directory of the socket"},
		"sslcrl":       {why: "has the option sslcrl, which is not supported: leave it out"},
		"sslcrldir":    {why: "has the option sslcrldir, which is not supported: leave it out"},
		"replication":  {why: "has the option replication: leave it out, because queries don't run over such a connection"},
		"sslidentity":  {why: "has the option sslidentity: write sslcert and sslkey"},
	}
	for _, same := range strings.Fields("host port database user password passfile service servicefile connect_timeout sslcert sslkey sslrootcert sslpassword sslsni sslnegotiation " +
		"target_session_attrs channel_binding krbsrvname krbspn options application_name search_path statement_timeout lock_timeout timezone datestyle role " +
		"pool_max_conns pool_min_conns pool_max_conn_lifetime pool_max_conn_idle_time pool_max_conn_lifetime_jitter pool_health_check_period min_protocol_version max_protocol_version") {
		out[same] = option{as: same}
	}
	// These options concern how another driver handles its connections and statements.
	for _, other := range strings.Fields("pgbouncer pool_timeout socket_timeout statement_cache_size prepared_statement_cache_size preparethreshold preparedstatementcachequeries rewritebatchedinserts " +
		"tcpkeepalive keepalives keepalives_idle keepalives_interval keepalives_count tcp_user_timeout client_encoding fallback_application_name gssencmode sslcompression applicationname " +
		"load_balance_hosts readonly sockettimeout stringtype autosave binarytransfer uselibpqcompat max_idle_connection_lifetime single_use_connections pooler") {
		out[other] = option{}
	}
	return out
}()

// postgres parses the part of a URL after "postgres://".
func postgres(scheme, rest string, java bool) (Parsed, error) {
	if before, query, ok := strings.Cut(rest, "?"); ok && !java {
		rest = before + "?" + strings.ReplaceAll(query, "+", "%2B")
	}
	l, ok := locate(rest)
	if !ok {
		return Parsed{}, errPostgres
	}
	var out Parsed
	set := url.Values{}
	err := readOptions(l.options, postgresOptions, func(as, v string) error { return out.setting(set, as, v, java) })
	if err != nil {
		return Parsed{}, err
	}
	move := func(key string, to *string) {
		if set.Has(key) {
			*to = set.Get(key)
			set.Del(key)
		}
	}
	move("database", &l.database)
	move("user", &l.user)
	if set.Has("password") {
		l.given = true
		move("password", &l.password)
	}
	if set.Has("host") {
		l.hosts, l.ports = strings.Split(set.Get("host"), ","), nil
		set.Del("host")
	}
	if set.Has("port") {
		l.ports = strings.Split(set.Get("port"), ",")
		set.Del("port")
	}
	out.URL, err = l.postgres(scheme, set)
	return out, err
}

// setting sets an option in the form that the PostgreSQL driver accepts.
func (p *Parsed) setting(set url.Values, as, v string, java bool) error {
	switch as {
	case "schema":
		for _, s := range strings.Split(v, ",") {
			if s = strings.TrimSpace(s); s != "" {
				p.Schemas = append(p.Schemas, s)
			}
		}
		return nil
	case "ssl": // for Node and asyncpg. The Java driver verifies the host as well
		switch v {
		case "", "true", "1":
			as, v = "sslmode", "require"
			if java {
				v = "verify-full"
			}
		case "false", "0":
			as, v = "sslmode", "disable"
		default:
			as = "sslmode"
		}
		if set.Has("sslmode") {
			return nil
		}
	case "sslaccept":
		switch v {
		case "strict":
			set.Set("sslmode", "verify-full")
		case "accept_invalid_certs":
			if !set.Has("sslmode") {
				set.Set("sslmode", "require")
			}
		default:
			return errors.New("has an unknown value of sslaccept: it takes strict and accept_invalid_certs")
		}
		return nil
	case "sslmode":
		if set.Get("sslmode") == "verify-full" { // sslaccept has set it
			return nil
		}
	case "target_session_attrs":
		words := map[string]string{"primary": "primary", "secondary": "standby", "master": "primary", "slave": "standby", "preferSecondary": "prefer-standby", "preferSlave": "prefer-standby"}
		if to, ok := words[v]; ok {
			v = to
		}
	}
	set.Set(as, v)
	return nil
}

// postgres returns l as a URL that Go can parse. Several hosts, and sockets, become options.
func (l location) postgres(scheme string, set url.Values) (string, error) {
	u := url.URL{Scheme: scheme, Path: "/" + l.database}
	if l.user != "" || l.given {
		u.User = url.User(l.user)
		if l.given {
			u.User = url.UserPassword(l.user, l.password)
		}
	}
	socket := func(h string) bool { return strings.HasPrefix(h, "/") || strings.HasPrefix(h, "@") }
	if len(l.hosts) == 1 && len(l.ports) <= 1 && !socket(l.hosts[0]) {
		u.Host = l.hosts[0]
		if strings.Contains(u.Host, ":") {
			u.Host = "[" + u.Host + "]"
		}
		if len(l.ports) == 1 && l.ports[0] != "" {
			u.Host += ":" + l.ports[0]
		}
	} else {
		if len(l.ports) > 1 && len(l.ports) != len(l.hosts) {
			return "", errors.New("names other numbers of hosts and ports: give one port, or one for each host")
		}
		set.Set("host", strings.Join(l.hosts, ","))
		if slices.ContainsFunc(l.ports, func(p string) bool { return p != "" }) {
			ports := slices.Clone(l.ports)
			for i := range ports {
				if ports[i] == "" {
					ports[i] = "5432"
				}
			}
			set.Set("port", strings.Join(ports, ","))
		}
	}
	u.RawQuery = strings.ReplaceAll(set.Encode(), "+", "%20") // libpq does not decode a plus
	return u.String(), nil
}

// keywords parses libpq's form key=value. A value can be in single quotes. A backslash escapes the next character.
func keywords(text string) (Parsed, error) {
	wrong := errors.New("is not a list such as host=db user=reader dbname=app password='secret'")
	options := url.Values{}
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		key, rest, ok := strings.Cut(text, "=")
		if key = strings.TrimSpace(key); !ok || key == "" || strings.ContainsAny(key, " '\\") {
			return Parsed{}, wrong
		}
		value, left, ok := keywordValue(strings.TrimLeft(rest, " \t\r\n"))
		if !ok {
			return Parsed{}, wrong
		}
		options.Set(key, value)
		text = left
	}
	return postgres("postgres", "/?"+strings.ReplaceAll(options.Encode(), "+", "%20"), false)
}

// keywordValue parses one value, and returns the value and the remaining text.
func keywordValue(s string) (value, rest string, ok bool) {
	var b strings.Builder
	quoted := strings.HasPrefix(s, "'")
	i := 0
	if quoted {
		i = 1
	}
	for ; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s):
			i++
			b.WriteByte(s[i])
		case c == '\'' && quoted:
			return b.String(), s[i+1:], true
		case !quoted && strings.ContainsRune(" \t\r\n", rune(c)):
			return b.String(), s[i:], true
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), "", !quoted
}
