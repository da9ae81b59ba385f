package config_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/google/go-cmp/cmp"
)

// TestFaults checks all faults in each text.
func TestFaults(t *testing.T) {
	const src = "sources: {s: {url: sqlite:x}}\n" // line 1 of most rows
	for _, row := range []struct{ text, want string }{
		// These rows are about the file as a whole.
		{"", "f.yaml: the file says nothing. It needs at least sources"},
		{"# only this\n", "f.yaml: the file says nothing. It needs at least sources"},
		{"- a\n", `
f.yaml:1:1: must be an object with include, listen, store, sources, classes, apis, policy, tools, results, prompts, budget, limits, auth, stdio, server, gates, review, actions, metrics, queries, notifications, accounts, audit, log or telemetry, not a list
    1 | - a
      | ^`},
		{"# a\r- a\r\n", `
f.yaml:2:1: must be an object with include, listen, store, sources, classes, apis, policy, tools, results, prompts, budget, limits, auth, stdio, server, gates, review, actions, metrics, queries, notifications, accounts, audit, log or telemetry, not a list
    2 | - a
      | ^`},
		{"a: [", `
f.yaml:1:4: not valid YAML: sequence end token ']' not found
    1 | a: [
      |    ^`},
		{"a: {b: ${X}}", `
f.yaml:1:9: not valid YAML: ',' or '}' must be specified; between { } and [ ] a text with ${ needs quotes
    1 | a: {b: ${X}}
      |         ^`},
		{"a: b: c", `
f.yaml:1:4: not valid YAML: mapping value is not allowed in this context
    1 | a: b: c
      |    ^`},
		{src + "---\nb: 2\n", `
f.yaml:3:1: a second document begins here. A configuration is one
    3 | b: 2
      | ^`},
		{"sources: &a {s: {url: !!str x}}\n<<: *a\n? b\n: c\n", `
f.yaml:1:10: anchors, aliases and merge keys (& * <<) are not read. Write the value out
    1 | sources: &a {s: {url: !!str x}}
      |          ^
f.yaml:1:23: tags (!) are not read. Quote what is text
    1 | sources: &a {s: {url: !!str x}}
      |                       ^
f.yaml:2:1: anchors, aliases and merge keys (& * <<) are not read. Write the value out
    2 | <<: *a
      | ^
f.yaml:2:5: anchors, aliases and merge keys (& * <<) are not read. Write the value out
    2 | <<: *a
      |     ^
f.yaml:3:1: keys with ? are not read. Write key: value
    3 | ? b
      | ^`},
		{"%YAML 1.2\n---\n" + src, `
f.yaml:1:1: directives (%) are not read. Begin with the first key
    1 | %YAML 1.2
      | ^`},
		{strings.Repeat("[", 40), `
f.yaml:1:33: nested too deep
    1 | [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[
      |                                 ^`},
		{"a: 1\n" + strings.Repeat("- a\n", 30_000), "f.yaml: the file has more than 40000 keys, values and marks"},

		// These rows are about keys.
		{"listen: 1\n", `
f.yaml:1:1: needs the key sources
    1 | listen: 1
      | ^
f.yaml:1:9: listen: must be host:port, such as 127.0.0.1:8420, not a number
    1 | listen: 1
      |         ^`},
		{src + "clases: {}\nlisten:\nlog: {level: loud, format:}\n", `
f.yaml:2:1: unknown key "clases". Did you mean classes?
    2 | clases: {}
      | ^
f.yaml:3:1: listen: has no value. Give it one or leave it out
    3 | listen:
      | ^
f.yaml:4:14: log.level: must be debug, info, warn or error
    4 | log: {level: loud, format:}
      |              ^
f.yaml:4:20: log.format: has no value. Give it one or leave it out
    4 | log: {level: loud, format:}
      |                    ^`},
		{"sources: {s: {url: sqlite:x, \"url\": sqlite:y}}\nsources: {}\n", `
f.yaml:1:30: sources.s.url: the key appears twice, first on line 1
    1 | sources: {s: {url: sqlite:x, "url": sqlite:y}}
      |                              ^
f.yaml:2:1: sources: the key appears twice, first on line 1
    2 | sources: {}
      | ^`},
		{"sources:\n", `
f.yaml:1:1: sources: has no value. Give it one or leave it out
    1 | sources:
      | ^`},
		{"sources: {}\n", `
f.yaml:1:10: sources: is empty. Name a source or leave it out
    1 | sources: {}
      |          ^`},
		{src + "gates: {writes: maybe}\nreview: [{approvals: 0}]\nclasses: {s.a: {permitted: [x], tenant: {field: a, bypass: principal.name}}}\n", `
f.yaml:2:17: gates.writes: must be off, review or on
    2 | gates: {writes: maybe}
      |                 ^
f.yaml:3:10: review.0: needs the key when
    3 | review: [{approvals: 0}]
      |          ^
f.yaml:3:22: review.0.approvals: must be from 1 to 10
    3 | review: [{approvals: 0}]
      |                      ^
f.yaml:4:60: classes.s.a.tenant.bypass: it yields a string, and has to yield true or false
    4 | classes: {s.a: {permitted: [x], tenant: {field: a, bypass: principal.name}}}
      |                                                            ^`},
		{src + `review:
  teams: {billing: {people: [ana, "team:x"]}, none: {}, groups: {claims: {group: [a]}}}
  rules:
    - {when: change.rows > 1, reviewers: ["team:biling", "team: ", "\u200b", ben]}
    - {when: change.rows > 1, reviewers: [ben], mode: deny}
auth: {oidc: {issuer: https://i.example, sign_in: {client_id: a, claims: {keep: [groups]}}}}
`, `
f.yaml:3:35: review.teams.billing.people.1: is a team. Name people
    3 |   teams: {billing: {people: [ana, "team:x"]}, none: {}, groups: {claims: {group: [a]}}}
      |                                   ^
f.yaml:3:47: review.teams.none: is a team of nobody. Name its people or claims
    3 |   teams: {billing: {people: [ana, "team:x"]}, none: {}, groups: {claims: {group: [a]}}}
      |                                               ^
f.yaml:3:75: review.teams.groups.claims.group: isn't in auth.oidc.sign_in.claims.keep, so that nobody has it. Did you mean groups?
    3 |   teams: {billing: {people: [ana, "team:x"]}, none: {}, groups: {claims: {group: [a]}}}
      |                                                                           ^
f.yaml:5:43: review.rules.0.reviewers.0: there is no team "team:biling" in review.teams. Did you mean team:billing?
    5 |     - {when: change.rows > 1, reviewers: ["team:biling", "team: ", "\u200b", ben]}
      |                                           ^
f.yaml:5:58: review.rules.0.reviewers.1: there is no team "team: " in review.teams
    5 |     - {when: change.rows > 1, reviewers: ["team:biling", "team: ", "\u200b", ben]}
      |                                                          ^
f.yaml:5:68: review.rules.0.reviewers.2: is the name of nobody
    5 |     - {when: change.rows > 1, reviewers: ["team:biling", "team: ", "\u200b", ben]}
      |                                                                    ^
f.yaml:6:31: review.rules.1.reviewers: nobody approves with mode: deny. Take one of the two out
    6 |     - {when: change.rows > 1, reviewers: [ben], mode: deny}
      |                               ^`},
		{src + `review: [{when: change.rows > 1, reviewers: ["team:billing"]}]
`, `
f.yaml:2:46: review.0.reviewers.0: there is no team "team:billing" in review.teams
    2 | review: [{when: change.rows > 1, reviewers: ["team:billing"]}]
      |                                              ^`},
		{src + `review: [{when: change.ops == "x"}, {when: change.rows, risk: huge, mode: maybe}]
classes:
  s.a: {mask: {c: hash}, denied: [b], permitted: [a, b, c], write: {create: yes please}}
  s.b:
    actions:
      x y: {do: delete}
      z: {do: make, transitions: {a: {}}, lookup: {p: {class: q}}}
`, `
f.yaml:2:17: review.0.when: character 1 of the expression: a change has no "ops". Did you mean op? It has op, class, classes, fields, rows, action, tool, source, risk
    2 | review: [{when: change.ops == "x"}, {when: change.rows, risk: huge, mode: maybe}]
      |                 ^
f.yaml:2:44: review.1.when: it yields an int, and has to yield true or false
    2 | review: [{when: change.ops == "x"}, {when: change.rows, risk: huge, mode: maybe}]
      |                                            ^
f.yaml:2:63: review.1.risk: must be low, medium or high
    2 | review: [{when: change.ops == "x"}, {when: change.rows, risk: huge, mode: maybe}]
      |                                                               ^
f.yaml:2:75: review.1.mode: must be allow, review or deny
    2 | review: [{when: change.ops == "x"}, {when: change.rows, risk: huge, mode: maybe}]
      |                                                                           ^
f.yaml:4:54: classes.s.a.permitted.1: "b" can't be seen at all. Take it out
    4 |   s.a: {mask: {c: hash}, denied: [b], permitted: [a, b, c], write: {create: yes please}}
      |                                                      ^
f.yaml:4:57: classes.s.a.permitted.2: is masked: who doesn't see it whole can't set it. Take it out
    4 |   s.a: {mask: {c: hash}, denied: [b], permitted: [a, b, c], write: {create: yes please}}
      |                                                         ^
f.yaml:4:77: classes.s.a.write.create: must be allow, review or deny
    4 |   s.a: {mask: {c: hash}, denied: [b], permitted: [a, b, c], write: {create: yes please}}
      |                                                                             ^
f.yaml:7:7: classes.s.b.actions.x y: an action is named with letters, digits, _ and -, a letter first, at most 63
    7 |       x y: {do: delete}
      |       ^
f.yaml:8:15: classes.s.b.actions.z.do: must be create, update, delete, sql, http, go or cloud
    8 |       z: {do: make, transitions: {a: {}}, lookup: {p: {class: q}}}
      |               ^
f.yaml:8:38: classes.s.b.actions.z.transitions.a: is empty. Name a value or leave it out
    8 |       z: {do: make, transitions: {a: {}}, lookup: {p: {class: q}}}
      |                                      ^
f.yaml:8:55: classes.s.b.actions.z.lookup.p: needs the key id
    8 |       z: {do: make, transitions: {a: {}}, lookup: {p: {class: q}}}
      |                                                       ^`},

		// These rows are about metadata.
		{"sources:\n  a: {metadata: {}}\n  b: {metadata: {roots: [], conection: x}}\n  c: {metadata: {roots: [~/Provar, x]}, url: sqlite:x}\n" +
			"  d: {metadata: {roots: [x]}, schemas: [a], tables: {only: [b]}}\n  e: {metadata: [x]}\n", `
f.yaml:2:17: sources.a.metadata: needs the key roots
    2 |   a: {metadata: {}}
      |                 ^
f.yaml:3:25: sources.b.metadata.roots: the list is empty. Name at least one or leave it out
    3 |   b: {metadata: {roots: [], conection: x}}
      |                         ^
f.yaml:3:29: sources.b.metadata: unknown key "conection". Did you mean connection?
    3 |   b: {metadata: {roots: [], conection: x}}
      |                             ^
f.yaml:4:26: sources.c.metadata.roots.0: ~ is not expanded. Write ${HOME} for it
    4 |   c: {metadata: {roots: [~/Provar, x]}, url: sqlite:x}
      |                          ^
f.yaml:4:41: sources.c.url: the source has metadata already, and is one thing
    4 |   c: {metadata: {roots: [~/Provar, x]}, url: sqlite:x}
      |                                         ^
f.yaml:5:31: sources.d.schemas: only PostgreSQL and DuckDB have schemas. Take it out
    5 |   d: {metadata: {roots: [x]}, schemas: [a], tables: {only: [b]}}
      |                               ^
f.yaml:5:45: sources.d.tables: only databases have tables. Write metadata.objects
    5 |   d: {metadata: {roots: [x]}, schemas: [a], tables: {only: [b]}}
      |                                             ^
f.yaml:6:17: sources.e.metadata: must be an object with roots, connection, environment or objects, not a list
    6 |   e: {metadata: [x]}
      |                 ^`},

		// These rows are about sources.
		{"sources: {a.b: {url: sqlite:x}, '9': {url: sqlite:x}, c: {}, d: sqlite:x}\n", `
f.yaml:1:11: sources.a.b: a source is named with letters, digits, - and _, a letter first, at most 63
    1 | sources: {a.b: {url: sqlite:x}, '9': {url: sqlite:x}, c: {}, d: sqlite:x}
      |           ^
f.yaml:1:33: sources.9: a source is named with letters, digits, - and _, a letter first, at most 63
    1 | sources: {a.b: {url: sqlite:x}, '9': {url: sqlite:x}, c: {}, d: sqlite:x}
      |                                 ^
f.yaml:1:58: sources.c: needs the key url, metadata or openapi
    1 | sources: {a.b: {url: sqlite:x}, '9': {url: sqlite:x}, c: {}, d: sqlite:x}
      |                                                          ^
f.yaml:1:65: sources.d: must be an object with url, metadata, openapi, parse, description, schemas, schema, template, tables, ssh, rename, local_rows, collections, write_url or read_only, not text
    1 | sources: {a.b: {url: sqlite:x}, '9': {url: sqlite:x}, c: {}, d: sqlite:x}
      |                                                                 ^`},
		{"sources:\n  a: {url: 'postgres://h/db', write_url: 'mysql://h/db'}\n  b: {url: sqlite:x, write_url: sqlite:y}\n" +
			"  c: {url: 'mysql://h/db', write_url: 'mysql://h/db', read_only: true}\n", `
f.yaml:2:31: sources.a.write_url: must be of the same kind of database as url
    2 |   a: {url: 'postgres://h/db', write_url: 'mysql://h/db'}
      |                               ^
f.yaml:3:22: sources.b.write_url: an SQLite file has no accounts. Take it out
    3 |   b: {url: sqlite:x, write_url: sqlite:y}
      |                      ^
f.yaml:4:28: sources.c.write_url: the source is read_only. Take one of the two out
    4 |   c: {url: 'mysql://h/db', write_url: 'mysql://h/db', read_only: true}
      |                            ^`},
		{"sources:\n  a: {url: 'postgres://u:p\u00e4ss@w0rd@h:port/db?password=more', write_url: 'postgres://u:hunter2@w0rd@h:port/db', read_only: true}\n" +
			"  b: {url: mongodb://u:hunter2@h}\n  c: {url: 'postgres://u:${PG_PASSWORD}@h:x/db'}\n  d: {url: 'sqlite:'}\n  e: {url: x.db}\n" +
			"  f: {url: sqlite:x, schemas: [a, a, ''], tables: {}}\n  g: {url: sqlite:x, local_rows: 5}\n  h: {url: sqlite:x, collections: {a: {fields: {b: string}}}}\n", `
f.yaml:2:12: sources.a.url: is not a URL such as postgres://user:password@host/database. Write reserved characters in a password as %XX
    2 |   a: {url: 'postgres://u:*********@h:port/db?password=****', write_url: 'postgres://u:************@h:port/db', read_only: true}
      |            ^
f.yaml:2:73: sources.a.write_url: is not a URL such as postgres://user:password@host/database. Write reserved characters in a password as %XX
    2 |   a: {url: 'postgres://u:*********@h:port/db?password=****', write_url: 'postgres://u:************@h:port/db', read_only: true}
      |                                                                         ^
f.yaml:3:12: sources.b.url: is not a URL such as mongodb://user:password@host/database. Write reserved characters in a password as %XX
    3 |   b: {url: mongodb://u:*******@h}
      |            ^
f.yaml:4:12: sources.c.url: is not a URL such as postgres://user:password@host/database. Write reserved characters in a password as %XX
    4 |   c: {url: 'postgres://u:${PG_PASSWORD}@h:x/db'}
      |            ^
f.yaml:5:12: sources.d.url: needs a path after sqlite:
    5 |   d: {url: 'sqlite:'}
      |            ^
f.yaml:6:12: sources.e.url: must begin with sqlite:, postgres://, mariadb://, mongodb:// or parse+https://
    6 |   e: {url: x.db}
      |            ^
f.yaml:7:22: sources.f.schemas: only PostgreSQL and DuckDB have schemas. Take it out
    7 |   f: {url: sqlite:x, schemas: [a, a, ''], tables: {}}
      |                      ^
f.yaml:7:35: sources.f.schemas.1: is in the list twice
    7 |   f: {url: sqlite:x, schemas: [a, a, ''], tables: {}}
      |                                   ^
f.yaml:7:38: sources.f.schemas.2: is empty
    7 |   f: {url: sqlite:x, schemas: [a, a, ''], tables: {}}
      |                                      ^
f.yaml:7:51: sources.f.tables: is empty. Leave it out
    7 |   f: {url: sqlite:x, schemas: [a, a, ''], tables: {}}
      |                                                   ^
f.yaml:8:22: sources.g.local_rows: only MongoDB, Parse Server and DuckDB take it. Take it out
    8 |   g: {url: sqlite:x, local_rows: 5}
      |                      ^
f.yaml:9:22: sources.h.collections: only MongoDB has collections. Take it out
    9 |   h: {url: sqlite:x, collections: {a: {fields: {b: string}}}}
      |                      ^`},
		{"sources:\n  a: {url: 'mongodb://h/db', collections: {o: {fields: {n: whole}, search: {index: d}}}}\n", `
f.yaml:2:60: sources.a.collections.o.fields.n: must be string, int, long, double, decimal, bool, date, objectId, uuid, binData, object or array
    2 |   a: {url: 'mongodb://h/db', collections: {o: {fields: {n: whole}, search: {index: d}}}}
      |                                                            ^
f.yaml:2:76: sources.a.collections.o.search: needs the key fields
    2 |   a: {url: 'mongodb://h/db', collections: {o: {fields: {n: whole}, search: {index: d}}}}
      |                                                                            ^`},
		{src + "store: postgres:db\n", `
f.yaml:2:8: store: is not a URL such as postgres://user:password@host/database. Write reserved characters in a password as %XX
    2 | store: postgres:db
      |        ^`},
		{src + "store: mysql://h/db\n", `
f.yaml:2:8: store: must be sqlite:path or postgres://user:password@host/database
    2 | store: mysql://h/db
      |        ^`},

		// These rows are about classes.
		{src + "classes:\n  s.a: {tennant: {field: org_id}, hiden: true}\n  z.x: {}\n  s.y:\n  b: {}\n  s.b: {}\n", `
f.yaml:3:9: classes.s.a: unknown key "tennant". Did you mean tenant?
    3 |   s.a: {tennant: {field: org_id}, hiden: true}
      |         ^
f.yaml:3:35: classes.s.a: unknown key "hiden". Did you mean hidden?
    3 |   s.a: {tennant: {field: org_id}, hiden: true}
      |                                   ^
f.yaml:4:3: classes.z.x: there is no source "z"
    4 |   z.x: {}
      |   ^
f.yaml:5:3: classes.s.y: has no value. Give it one or leave it out
    5 |   s.y:
      |   ^
f.yaml:7:3: classes.s.b: the class has another rule, as b
    7 |   s.b: {}
      |   ^`},
		{src + "classes:\n  s.a: {hidden: yes, visible: [], denied: id}\n  s.b: {hidden: {except: admin}, large: [b], visible: [c, d, 1], denied: [c], lift: [e]}\n", `
f.yaml:3:17: classes.s.a.hidden: must be true or false, not text
    3 |   s.a: {hidden: yes, visible: [], denied: id}
      |                 ^
f.yaml:3:31: classes.s.a.visible: the list is empty. Name at least one or leave it out
    3 |   s.a: {hidden: yes, visible: [], denied: id}
      |                               ^
f.yaml:3:43: classes.s.a.denied: must be a list of field names, not text
    3 |   s.a: {hidden: yes, visible: [], denied: id}
      |                                           ^
f.yaml:4:26: classes.s.b.hidden.except: must be operator
    4 |   s.b: {hidden: {except: admin}, large: [b], visible: [c, d, 1], denied: [c], lift: [e]}
      |                          ^
f.yaml:4:42: classes.s.b.large.0: "b" can't be seen at all. Take it out
    4 |   s.b: {hidden: {except: admin}, large: [b], visible: [c, d, 1], denied: [c], lift: [e]}
      |                                          ^
f.yaml:4:56: classes.s.b.visible.0: is also denied. Take it out of one
    4 |   s.b: {hidden: {except: admin}, large: [b], visible: [c, d, 1], denied: [c], lift: [e]}
      |                                                        ^
f.yaml:4:62: classes.s.b.visible.2: must be text, not a number. Put it in quotes
    4 |   s.b: {hidden: {except: admin}, large: [b], visible: [c, d, 1], denied: [c], lift: [e]}
      |                                                              ^
f.yaml:4:86: classes.s.b.lift.0: must be named in visible as well, so that it is lifted on purpose
    4 |   s.b: {hidden: {except: admin}, large: [b], visible: [c, d, 1], denied: [c], lift: [e]}
      |                                                                                      ^`},
		{src + "classes:\n  s.a: {visible: [a, b], join: [c], mask: {a: most, b: , d: hash}}\n", `
f.yaml:3:33: classes.s.a.join.0: "c" can't be seen at all. Take it out
    3 |   s.a: {visible: [a, b], join: [c], mask: {a: most, b: , d: hash}}
      |                                 ^
f.yaml:3:47: classes.s.a.mask.a: must be partial, pseudonym, hash or null
    3 |   s.a: {visible: [a, b], join: [c], mask: {a: most, b: , d: hash}}
      |                                               ^
f.yaml:3:53: classes.s.a.mask.b: has no value. Give it one or leave it out
    3 |   s.a: {visible: [a, b], join: [c], mask: {a: most, b: , d: hash}}
      |                                                     ^
f.yaml:3:58: classes.s.a.mask.d: "d" can't be seen at all. Take it out
    3 |   s.a: {visible: [a, b], join: [c], mask: {a: most, b: , d: hash}}
      |                                                          ^`},
		{src + "classes:\n  s.a: {tenant: {field: x, through: y}}\n  s.b: {tenant: {}}\n  s.c: {tenant: {field: x, is: principal.tennant}}\n  s.d: {tenant: {field: x, is: 'principal.x == 3'}}\n", `
f.yaml:3:17: classes.s.a.tenant: through can't be combined with field, is and contains
    3 |   s.a: {tenant: {field: x, through: y}}
      |                 ^
f.yaml:4:17: classes.s.b.tenant: needs field, or through
    4 |   s.b: {tenant: {}}
      |                 ^
f.yaml:5:32: classes.s.c.tenant.is: character 1 of the expression: a principal has no "tennant". Did you mean tenant? It has id, name, kind, owner, tenant, scopes, claims, token_id, parent, depth, author
    5 |   s.c: {tenant: {field: x, is: principal.tennant}}
      |                                ^
f.yaml:6:33: classes.s.d.tenant.is: character 1 of the expression: a principal has no "x". It has id, name, kind, owner, tenant, scopes, claims, token_id, parent, depth, author
    6 |   s.d: {tenant: {field: x, is: 'principal.x == 3'}}
      |                                 ^`},
		{src + "classes:\n  s.a:\n    tenant: {field: x, is: principal.claims.org-id, bypass: '\"read\" in principal.scope'}\n" +
			"    canonical: {a: {$cel: principal.}, b: {$in: {$cel: principal.tenant}, $ne: {$cel: 5}}}\nstdio:\n  scopes: [read]\n" +
			"  filters: {default: {r: {$gte: {$cel: 'principal.claims.level +\n 1 + principal.x'}}}}\n", `
f.yaml:4:49: classes.s.a.tenant.is: character 22 of the expression: undeclared reference to 'id'; write principal.claims["org-id"] for the claim of that name
    4 |     tenant: {field: x, is: principal.claims.org-id, bypass: '"read" in principal.scope'}
      |                                                 ^
f.yaml:4:72: classes.s.a.tenant.bypass: character 11 of the expression: a principal has no "scope". Did you mean scopes? It has id, name, kind, owner, tenant, scopes, claims, token_id, parent, depth, author
    4 |     tenant: {field: x, is: principal.claims.org-id, bypass: '"read" in principal.scope'}
      |                                                                        ^
f.yaml:5:81: classes.s.a.canonical.b.$ne.$cel: $cel takes an expression as a string
    5 |     canonical: {a: {$cel: principal.}, b: {$in: {$cel: principal.tenant}, $ne: {$cel: 5}}}
      |                                                                                 ^
f.yaml:8:34: stdio.filters.default.r.$gte.$cel: character 30 of the expression: a principal has no "x". It has id, name, kind, owner, tenant, scopes, claims, token_id, parent, depth, author
    8 |   filters: {default: {r: {$gte: {$cel: 'principal.claims.level +
      |                                  ^`},
		{src + "classes:\n  s.a:\n    canonical: {a: {$cel: principal.}, b: {$in: {$cel: principal.tenant}}}\n", `
f.yaml:4:21: classes.s.a.canonical.a.$cel: character 11 of the expression: no viable alternative at input '.'
    4 |     canonical: {a: {$cel: principal.}, b: {$in: {$cel: principal.tenant}}}
      |                     ^
f.yaml:4:50: classes.s.a.canonical.b.$in.$cel: it yields a string, and has to yield a list of texts, numbers or booleans
    4 |     canonical: {a: {$cel: principal.}, b: {$in: {$cel: principal.tenant}}}
      |                                                  ^`},
		{src + "classes:\n  s.a:\n    canonical: {a: {$gtt: 1}}\n  s.b: {canonical: {}}\n  s.c: {canonical: [x]}\n  s.d: {canonical: {n: 0x10, m: .5, o: , p: 017, q: .inf, q: '${NONE}'}}\n", `
f.yaml:4:21: classes.s.a.canonical.a.$gtt: unknown operator "$gtt". Did you mean $gt or $gte?
    4 |     canonical: {a: {$gtt: 1}}
      |                     ^
f.yaml:5:20: classes.s.b.canonical: is empty. Leave it out to keep every record
    5 |   s.b: {canonical: {}}
      |                    ^
f.yaml:6:20: classes.s.c.canonical: must be a where object, such as {deleted_at: null}, not a list
    6 |   s.c: {canonical: [x]}
      |                    ^
f.yaml:7:24: classes.s.d.canonical.n: write the number in decimal as JSON does, or in quotes when it is text
    7 |   s.d: {canonical: {n: 0x10, m: .5, o: , p: 017, q: .inf, q: '${NONE}'}}
      |                        ^
f.yaml:7:33: classes.s.d.canonical.m: write the number in decimal as JSON does, or in quotes when it is text
    7 |   s.d: {canonical: {n: 0x10, m: .5, o: , p: 017, q: .inf, q: '${NONE}'}}
      |                                 ^
f.yaml:7:37: classes.s.d.canonical.o: has no value. Write null when null is meant
    7 |   s.d: {canonical: {n: 0x10, m: .5, o: , p: 017, q: .inf, q: '${NONE}'}}
      |                                     ^
f.yaml:7:45: classes.s.d.canonical.p: write the number in decimal as JSON does, or in quotes when it is text
    7 |   s.d: {canonical: {n: 0x10, m: .5, o: , p: 017, q: .inf, q: '${NONE}'}}
      |                                             ^
f.yaml:7:53: classes.s.d.canonical.q: write the number in decimal as JSON does, or in quotes when it is text
    7 |   s.d: {canonical: {n: 0x10, m: .5, o: , p: 017, q: .inf, q: '${NONE}'}}
      |                                                     ^
f.yaml:7:59: classes.s.d.canonical.q: the key appears twice, first on line 7
    7 |   s.d: {canonical: {n: 0x10, m: .5, o: , p: 017, q: .inf, q: '${NONE}'}}
      |                                                           ^`},
		{src + "classes: {s.a: {fields: {x: {}, y: {values: [a]}, z: {values: {a: , b: 1}}}}}\n", `
f.yaml:2:29: classes.s.a.fields.x: is empty. Leave it out
    2 | classes: {s.a: {fields: {x: {}, y: {values: [a]}, z: {values: {a: , b: 1}}}}}
      |                             ^
f.yaml:2:45: classes.s.a.fields.y.values: must be an object with one key for each value, not a list
    2 | classes: {s.a: {fields: {x: {}, y: {values: [a]}, z: {values: {a: , b: 1}}}}}
      |                                             ^
f.yaml:2:64: classes.s.a.fields.z.values.a: has no value. Give it one or leave it out
    2 | classes: {s.a: {fields: {x: {}, y: {values: [a]}, z: {values: {a: , b: 1}}}}}
      |                                                                ^
f.yaml:2:72: classes.s.a.fields.z.values.b: must be the meaning of b, not a number
    2 | classes: {s.a: {fields: {x: {}, y: {values: [a]}, z: {values: {a: , b: 1}}}}}
      |                                                                        ^`},

		// These rows are about transports and limits.
		{src + "listen: 0.0.0.0:80000\nbudget: 5 GB\nlimits: {rate: 5, burst: 0, rows: {query: 1001}, timeouts: {query_class: 10m}}\nserver: {origins: [app.example], hosts: ['*'], max_body: 1, queue: -1, heartbeat: 2}\n", `
f.yaml:2:9: listen: must be host:port, such as 127.0.0.1:8420
    2 | listen: 0.0.0.0:80000
      |         ^
f.yaml:3:9: budget: must be a number of bytes from 1000 to 4194304, such as 100 KB or 1 MiB
    3 | budget: 5 GB
      |         ^
f.yaml:4:16: limits.rate: must be a number of calls in a time, such as 20/s, 600/min or 5000/h, not a number
    4 | limits: {rate: 5, burst: 0, rows: {query: 1001}, timeouts: {query_class: 10m}}
      |                ^
f.yaml:4:26: limits.burst: must be from 1 to 1000000
    4 | limits: {rate: 5, burst: 0, rows: {query: 1001}, timeouts: {query_class: 10m}}
      |                          ^
f.yaml:4:43: limits.rows.query: must be from 1 to 1000
    4 | limits: {rate: 5, burst: 0, rows: {query: 1001}, timeouts: {query_class: 10m}}
      |                                           ^
f.yaml:4:74: limits.timeouts.query_class: must be a duration from 10ms to 5m, such as 30s, 5m, 12h or 90d
    4 | limits: {rate: 5, burst: 0, rows: {query: 1001}, timeouts: {query_class: 10m}}
      |                                                                          ^
f.yaml:5:20: server.origins.0: must be an origin: scheme, host and port alone, such as https://app.example
    5 | server: {origins: [app.example], hosts: ['*'], max_body: 1, queue: -1, heartbeat: 2}
      |                    ^
f.yaml:5:42: server.hosts.0: must be a host name, with or without a port, such as agents.example
    5 | server: {origins: [app.example], hosts: ['*'], max_body: 1, queue: -1, heartbeat: 2}
      |                                          ^
f.yaml:5:58: server.max_body: must be a number of bytes from 1000 to 67108864, such as 100 KB or 1 MiB
    5 | server: {origins: [app.example], hosts: ['*'], max_body: 1, queue: -1, heartbeat: 2}
      |                                                          ^
f.yaml:5:68: server.queue: must be from 0 to 100000
    5 | server: {origins: [app.example], hosts: ['*'], max_body: 1, queue: -1, heartbeat: 2}
      |                                                                    ^
f.yaml:5:83: server.heartbeat: must be a duration from 0s to 1m, such as 30s, 5m, 12h or 90d, not a number
    5 | server: {origins: [app.example], hosts: ['*'], max_body: 1, queue: -1, heartbeat: 2}
      |                                                                                   ^`},
		{src + "results: {default: bothh}\ntools: {profile: slim}\nlistn: x\n", `
f.yaml:2:20: results.default: must be both, text or structured. Did you mean both?
    2 | results: {default: bothh}
      |                    ^
f.yaml:3:18: tools.profile: must be standard, full, lean or sql
    3 | tools: {profile: slim}
      |                  ^
f.yaml:4:1: unknown key "listn". Did you mean listen?
    4 | listn: x
      | ^`},
		{src + "listen: ':8420'\nauth: {tokens: false}\nstdio: {tenant: acme}\n", `
f.yaml:2:1: listen: other machines can reach this address, and auth.tokens is false. Listen on 127.0.0.1:8420 or take auth.tokens out
    2 | listen: ':8420'
      | ^
f.yaml:3:8: auth.tokens: without tokens and without anonymous no caller can authenticate. Declare anonymous
    3 | auth: {tokens: false}
      |        ^
f.yaml:4:8: stdio: needs the key scopes
    4 | stdio: {tenant: acme}
      |        ^`},
		{src + "auth: {anonymous: {scopes: [read, review, reed], filters: {default: {a: {$foo: 1}}}}}\n", `
f.yaml:2:35: auth.anonymous.scopes.1: review is never given to an agent
    2 | auth: {anonymous: {scopes: [read, review, reed], filters: {default: {a: {$foo: 1}}}}}
      |                                   ^
f.yaml:2:43: auth.anonymous.scopes.2: must be read, write, delete, schema or explain
    2 | auth: {anonymous: {scopes: [read, review, reed], filters: {default: {a: {$foo: 1}}}}}
      |                                           ^
f.yaml:2:74: auth.anonymous.filters.default.a.$foo: unknown operator "$foo"
    2 | auth: {anonymous: {scopes: [read, review, reed], filters: {default: {a: {$foo: 1}}}}}
      |                                                                          ^`},

		{src + "log:\n\tlevel: info\n", `
f.yaml:3:1: not valid YAML: a tab (→) stands where YAML takes only spaces. Replace it with spaces
    3 | →level: info
      | ^`},
		{src + "limits: {calls_per_minute: 60}\n", `
f.yaml:2:10: limits: unknown key "calls_per_minute". Did you mean rate? Calls in a time, for each owner and each token: 600/min
    2 | limits: {calls_per_minute: 60}
      |          ^`},

		// The caret stands at the character of the expression, in every form of a text.
		{src + "review:\n  - when: >-\n      change.rows > 1 &&\n      change.opp == 'x'\n" +
			"  - when: |\n      change.rows > 1 &&\n        change.opp == 'x'\n  - when: 'change.action == ''x'' && change.opp == ''x'''\n  - when: \"change.action == \\\"x\\\" && change.opp\"\n" +
			"  - when: \"change.action == \\u0027x' && change.opp\"\n", `
f.yaml:5:7: review.0.when: character 20 of the expression: a change has no "opp". Did you mean op? It has op, class, classes, fields, rows, action, tool, source, risk
    5 |       change.opp == 'x'
      |       ^
f.yaml:8:9: review.1.when: line 2, character 3 of the expression: a change has no "opp". Did you mean op? It has op, class, classes, fields, rows, action, tool, source, risk
    8 |         change.opp == 'x'
      |         ^
f.yaml:9:38: review.2.when: character 25 of the expression: a change has no "opp". Did you mean op? It has op, class, classes, fields, rows, action, tool, source, risk
    9 |   - when: 'change.action == ''x'' && change.opp == ''x'''
      |                                      ^
f.yaml:10:38: review.3.when: character 25 of the expression: a change has no "opp". Did you mean op? It has op, class, classes, fields, rows, action, tool, source, risk
   10 |   - when: "change.action == \"x\" && change.opp"
      |                                      ^
f.yaml:11:11: review.4.when: character 25 of the expression: a change has no "opp". Did you mean op? It has op, class, classes, fields, rows, action, tool, source, risk
   11 |   - when: "change.action == \u0027x' && change.opp"
      |           ^`},
		{src + "review: [{when: 'change.rows > 10 && change.rows > 11 && change.rows > 12 && change.rows > 13 && change.rows > 14 && change.actionn == \"close\"', approvals: 2}]\n", `
f.yaml:2:118: review.0.when: character 101 of the expression: a change has no "actionn". Did you mean action? It has op, class, classes, fields, rows, action, tool, source, risk
    2 | …s > 10 && change.rows > 11 && change.rows > 12 && change.rows > 13 && change.rows > 14 && change.actionn == "close"', approvals: 2}]
      |                                                                                            ^`},

		// These rows are about positions: tabs, wide characters, Windows line endings, long lines, multi-line text.
		{"sources: {s: {url: sqlite:x}}\r\n# é\r\n\"é\":\t{}\r\n", "\nf.yaml:3:1: unknown key \"é\"\n    3 | \"é\":→{}\n      | ^"},
		{src + "log: {\"éü\": '漢字', format: yes}\n", `
f.yaml:2:7: log: unknown key "éü"
    2 | log: {"éü": '漢字', format: yes}
      |       ^
f.yaml:2:27: log.format: must be json or text
    2 | log: {"éü": '漢字', format: yes}
      |                           ^`},
		{src + "tools: {only: [" + strings.Repeat("a, ", 1) + strings.Repeat("b", 100) + ", a, " + strings.Repeat("c", 100) + "]}\n",
			"\nf.yaml:2:121: tools.only.2: is in the list twice\n    2 | …" + strings.Repeat("b", 88) + ", a, " + strings.Repeat("c", 57) + "…\n      | " + strings.Repeat(" ", 91) + "^"},
		{src + "prompts:\n  1st: {template: x}\n  a:\n    arguments: [{name: x-y}, {name: b}, {name: b}, {description: c}]\n", `
f.yaml:3:3: prompts.1st: a prompt is named with letters, digits, _, - and ., a letter first, at most 63
    3 |   1st: {template: x}
      |   ^
f.yaml:5:5: prompts.a: needs the key template
    5 |     arguments: [{name: x-y}, {name: b}, {name: b}, {description: c}]
      |     ^
f.yaml:5:24: prompts.a.arguments.0.name: must be letters, digits and _, a letter first
    5 |     arguments: [{name: x-y}, {name: b}, {name: b}, {description: c}]
      |                        ^
f.yaml:5:48: prompts.a.arguments.2.name: appears twice
    5 |     arguments: [{name: x-y}, {name: b}, {name: b}, {description: c}]
      |                                                ^
f.yaml:5:52: prompts.a.arguments.3: needs the key name
    5 |     arguments: [{name: x-y}, {name: b}, {name: b}, {description: c}]
      |                                                    ^`},
		{src + "classes:\n  s.a:\n    description: |\n      one\n      two\n    visibel: [x]\n", `
f.yaml:7:5: classes.s.a: unknown key "visibel". Did you mean visible?
    7 |     visibel: [x]
      |     ^`},
	} {
		_, err := config.Parse("f.yaml", []byte(row.text), env)
		if got, want := fmt.Sprint(err), strings.TrimPrefix(row.want, "\n"); got != want {
			t.Errorf("%.300s\ngot\n%s\n%s", row.text, got, cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")))
		}
	}
}

// TestManyFaults checks that a very large number of faults, on very long lines, is cut and the rest counted.
func TestManyFaults(t *testing.T) {
	text := "sources: {s: {url: sqlite:x}}\ntools: {only: [" + strings.Repeat("1, ", 10_000) + "]}\nlisten: '" + strings.Repeat("${NONE}", 100_000) + "'"
	_, err := config.Parse("f.yaml", []byte(text), env)
	faults, ok := errors.AsType[*config.Error](err)
	if !ok || len(faults.Faults) != 100 || faults.More != 109_900 {
		t.Fatalf("%d faults and %d more, want 100 and 109900", len(faults.Faults), faults.More)
	}
	if got := err.Error(); strings.Count(got, "\nf.yaml:2:") != 99 || !strings.HasSuffix(got, "\nand 109900 more") || len(got) > 50_000 {
		t.Errorf("written out in %d bytes, ending %q", len(got), got[len(got)-60:])
	}
}

// FuzzParse searches for panics, hangs, and faults with positions outside the file.
func FuzzParse(f *testing.F) {
	for _, s := range []string{full(f), "sources: {s: {url: sqlite:x}}", "a: [", "a: &x [*x]", "? [a]\n: b", "a: |\n  x\n", "- - - -", "{{{{", "a: \"\\x00\"", "\t", "'", "${", "!!", "\r0"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if strings.Contains(string(data), "file:") || strings.Contains(string(data), "include") {
			return // it would read files of this machine
		}
		c, err := config.Parse("f.yaml", data, env)
		if err == nil {
			if len(c.Sources) == 0 || len(c.Rules.Version) != 32 {
				t.Errorf("accepted without a source or a version: %+v", c)
			}
			return
		}
		faults, ok := errors.AsType[*config.Error](err)
		if !ok || len(faults.Faults) == 0 {
			t.Fatalf("an error without faults: %v", err)
		}
		lines := bytes.Count(bytes.ReplaceAll(data, []byte("\r"), []byte("\n")), []byte("\n")) + 1
		for _, f := range faults.Faults {
			if f.Message == "" || f.Line > lines || f.Line < 0 || !utf8.ValidString(f.String()) {
				t.Errorf("a fault that is none: %+v", f)
			}
		}
	})
}
