package operate

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/bailiwick-dev/bailiwick/internal/app"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/test/services"
)

// authority issues certificates for a test.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// issue writes a certificate for a name and its key into files. The certificate is valid from the given time for the
// duration lasts. It is self-signed if a is nil.
func (a *authority) issue(t *testing.T, dir, name string, from time.Time, lasts time.Duration) (_ *authority, certificate, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	of := &x509.Certificate{SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name}, NotBefore: from, NotAfter: from.Add(lasts),
		DNSNames: []string{name}, IsCA: a == nil, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature}
	parent, signer := of, private
	if a != nil {
		parent, signer = a.cert, a.key
	}
	der, err := x509.CreateCertificate(rand.Reader, of, parent, &private.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	made, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	certificate, key = filepath.Join(dir, name+".pem"), filepath.Join(dir, name+".key")
	for path, block := range map[string]*pem.Block{certificate: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return &authority{made, private}, certificate, key
}

// joined concatenates files and returns the path of the result.
func joined(t *testing.T, name string, files ...string) string {
	t.Helper()
	var all []byte
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, text...)
	}
	path := filepath.Join(filepath.Dir(files[0]), name)
	if err := os.WriteFile(path, all, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestCertificates checks the findings about files with certificates: their expiry, their names, their chain and
// their keys.
func TestCertificates(t *testing.T) {
	dir, now, day := t.TempDir(), time.Now(), 24*time.Hour
	var none *authority
	ca, caFile, _ := none.issue(t, dir, "ca.test", now.Add(-day), 400*day)
	_, fine, fineKey := ca.issue(t, dir, "fine.test", now.Add(-day), 90*day)
	_, ending, endingKey := ca.issue(t, dir, "ending.test", now.Add(-day), 10*day)
	_, over, overKey := ca.issue(t, dir, "over.test", now.Add(-10*day), day)
	_, early, earlyKey := ca.issue(t, dir, "early.test", now.Add(day), 90*day)
	empty := filepath.Join(dir, "empty.pem")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		path, key string
		state     state
		want      string
	}{
		{fine, fineKey, good, "certificate of fine.test until 20"},
		{joined(t, "chain.pem", fine, caFile), fineKey, good, "certificate of fine.test"},
		{joined(t, "swapped.pem", fine, ending), fineKey, fault, "certificate 1 was not signed by certificate 2"},
		{ending, endingKey, warning, "certificate of ending.test"},
		{over, overKey, fault, "which is over"},
		{early, earlyKey, fault, "It begins at"},
		{fine, overKey, fault, "can't be used with the key"},
		{fine, filepath.Join(dir, "gone.key"), fault, "no such file"},
		{caFile, "", good, "certificate of ca.test"},
		{joined(t, "authorities.pem", over, caFile), "", good, "certificate of ca.test"}, // one expired and one valid certificate
		{over, "", fault, "which is over"},
		{empty, "", fault, "no certificate in PEM form"},
		{filepath.Join(dir, "gone.pem"), "", fault, "no such file"},
	} {
		got := certificateFile{about: "store", path: row.path, key: row.key}.look(now)
		if got.State != row.state || !strings.Contains(got.Text, row.want) || (got.State == good) != (got.Do == "") {
			t.Errorf("%s, %s: %+v, want %s, %s", row.path, row.key, got, row.state, row.want)
		}
	}
}

// TestAPI checks three APIs: one whose certificate is not trusted, one that refuses connections, and one without
// encryption.
func TestAPI(t *testing.T) {
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	defer secure.Close()
	for at, want := range map[string]finding{
		plain.URL:             {State: good, Text: "takes connections, without encryption"},
		secure.URL:            {State: fault, Text: "certificate signed by unknown authority", Do: "Give the certificate of the authority"},
		"https://127.0.0.1:1": {State: fault, Text: "127.0.0.1:1 can't be reached: connection refused", Do: "the port in the url"},
	} {
		c := load(t, fmt.Sprintf("sources: {shop: {openapi: {document: shop.json, base_url: %q}}}\n", at))
		got, _ := sources(t.Context(), c)
		if len(got) != 1 || got[0].State != want.State || !strings.Contains(got[0].Text, want.Text) || !strings.Contains(got[0].Do, want.Do) {
			t.Errorf("%s: %+v, want %+v", at, got, want)
		}
	}
}

// load loads a configuration next to the document of an API.
func load(t *testing.T, text string) *config.Config {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "shop.json"), []byte(`{"openapi":"3.0.3","info":{"title":"Shop","version":"1"},"paths":{}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := app.LoadText(filepath.Join(dir, "bailiwick.yaml"), []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// all returns the findings about one subject as text.
func all(found []finding, about string) string {
	var out []string
	for _, f := range found {
		if strings.HasPrefix(f.About, about) {
			out = append(out, fmt.Sprintf("%s %s: %s (%s)", f.State, f.About, f.Text, f.Do))
		}
	}
	return strings.Join(out, "\n")
}

// TestPostgres checks a store and a source in PostgreSQL. It tests rights, pooler and account in a good and a bad
// state.
func TestPostgres(t *testing.T) {
	at := services.Postgres(t)
	ctx := t.Context()
	conn, err := pgx.Connect(ctx, at)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	do := func(statement string) {
		t.Helper()
		if _, err := conn.Exec(ctx, statement); err != nil {
			t.Fatal(err)
		}
	}
	user := fmt.Sprint("bw_doctor_", time.Now().UnixNano())
	as := func(user, password string) string {
		u, err := url.Parse(at)
		if err != nil {
			t.Fatal(err)
		}
		u.User = url.UserPassword(user, password)
		return u.String()
	}
	do(`CREATE ROLE ` + user + ` LOGIN PASSWORD 'sesame'`)
	defer func() {
		for _, text := range []string{`DROP OWNED BY ` + user, `DROP ROLE ` + user} {
			if _, err := conn.Exec(context.WithoutCancel(ctx), text); err != nil {
				t.Error(err)
			}
		}
	}()
	do(`CREATE TABLE goods (id int PRIMARY KEY, name text)`)
	check := func(name, store, source, about string, wants ...string) {
		t.Helper()
		c := load(t, fmt.Sprintf("listen: 127.0.0.1:1\nstore: %q\nsources: {shop: {url: %q}}\n", store, source))
		got := all(examine(ctx, c), about)
		for _, want := range wants {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %s\nlacks %s", name, got, want)
			}
		}
		if strings.Contains(got, "sesame") {
			t.Errorf("%s: %s", name, got)
		}
	}
	check("no store", at, at, "store", "warning store: PostgreSQL ", "it has no tables yet")
	if tables := count(t, conn); tables != 0 {
		t.Errorf("doctor made %d tables", tables)
	}
	check("may make none", as(user, "sesame"), at, "store", "fault store: the user lacks the right to create the schema bailiwick")
	s, err := app.OpenStore(ctx, at, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	check("a store", at, at, "", "ok store: PostgreSQL ", "ok clock: this machine and the store agree", "ok replicas: no server runs",
		"ok source shop: PostgreSQL ", "warning source shop: the account of url may write. Its sessions are read-only (use an account that may only read)")
	check("no right", as(user, "sesame"), at, "store", "fault store: the user lacks the right to use the schema bailiwick")
	do(`GRANT USAGE ON SCHEMA bailiwick TO ` + user)
	check("no table", as(user, "sesame"), at, "store", "to read and write bailiwick.audit")
	check("wrong password", as(user, "wrong"), as(user, "wrong"), "s", "fault store: open in PostgreSQL at ", "the database refuses the user or the password", "fault source shop", "Check the user and the password")
	do(`GRANT SELECT ON goods TO ` + user)
	check("a reader", at, as(user, "sesame"), "source", "1 class")
	do(`CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'x' USING ERRCODE = '53100'; END $$`)
	do(`CREATE TRIGGER full_disk BEFORE INSERT ON bailiwick.audit FOR EACH ROW EXECUTE FUNCTION full_disk()`)
	check("full", at, at, "store", "fault store: append to the audit log", "the disk is full")
	do(`DROP TRIGGER full_disk ON bailiwick.audit`)
	do(`INSERT INTO bailiwick.migration VALUES (9999)`)
	check("newer", at, at, "store", "fault store", "version 9999, and this program knows")
	do(`DELETE FROM bailiwick.migration WHERE version = 9999`)
	check("pooled", services.PooledURL(t, at), services.PooledURL(t, at), "", "fault store", "a pooler in transaction mode stands before the database", "ok source shop", "behind a pooler")
}

// TestOlderStore checks the finding about a store that the next start will upgrade.
func TestOlderStore(t *testing.T) {
	got := version("PostgreSQL 17", 1, 2)
	if got.State != warning || got.Text != "PostgreSQL 17: version 1 of 2" || !strings.Contains(got.Do, "the next start upgrades it") {
		t.Errorf("%+v", got)
	}
}

// count returns the number of tables of the store.
func count(t *testing.T, conn *pgx.Conn) (n int) {
	t.Helper()
	if err := conn.QueryRow(t.Context(), `SELECT count(*) FROM pg_tables WHERE schemaname = 'bailiwick'`).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestOtherSources checks that doctor prints the versions of MariaDB and of a server with MongoDB's protocol.
func TestOtherSources(t *testing.T) {
	for at, want := range map[string]string{
		services.MariaDB(t):  "ok source shop: MariaDB 1",
		services.FerretDB(t): "DB ",
	} {
		got, _ := sources(t.Context(), load(t, fmt.Sprintf("sources: {shop: {url: %q}}\n", at)))
		if text := all(got, "source"); !strings.Contains(text, want) || strings.Contains(text, "fault") {
			t.Errorf("%s, want %s", text, want)
		}
	}
}
