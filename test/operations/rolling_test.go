package operations

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"database/sql"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	_ "modernc.org/sqlite" // for database/sql

	"github.com/bailiwick-dev/bailiwick/test/services"
)

const (
	host    = "gate.example.com"
	calls   = 2000             // at least, of all proxies
	ceiling = 90 * time.Second // the maximum wait for something that should happen soon
)

// TestRollingRestart restarts two replicas of the built program one after the other, under load. They run behind nginx,
// HAProxy and Caddy with the files of examples/deploy, in which only addresses, replicas and certificates are replaced.
// No call of either generation of the protocol is lost, and none is done twice. Sessions of the older one go on at any
// replica.
func TestRollingRestart(t *testing.T) {
	f := newFleet(t)
	fronts := f.proxies()
	if len(fronts) == 0 {
		t.Skip("LEFT OUT: no proxy is here")
	}
	var wg sync.WaitGroup
	done := make(chan struct{})
	for _, p := range fronts {
		least := int64(calls/len(fronts) + 1)
		for range 2 {
			wg.Go(func() { p.load(t, done, least, nil) })
			sessions := make([]string, 3)
			for i := range sessions {
				sessions[i] = p.begin(t)
			}
			wg.Go(func() { p.load(t, done, least, sessions) })
		}
	}
	for _, r := range f.replicas {
		f.await("calls at both replicas by each proxy", func() bool { return f.replicas[0].called(fronts) && f.replicas[1].called(fronts) })
		r.stop(syscall.SIGTERM)
		r.start()
	}
	close(done)
	wg.Wait()
	total := int64(0)
	for _, p := range fronts {
		t.Logf("%s: %d calls, %d lost", p.name, p.answered.Load(), p.lost.Load())
		total += p.answered.Load()
	}
	for _, r := range f.replicas {
		r.stop(syscall.SIGINT) // without a drain, for nobody calls
	}
	if t.Failed() {
		t.Log(f.logs())
	}
	if n := f.recorded(); n != total {
		t.Errorf("%d calls were answered, and %d are in the audit", total, n)
	}
}

// A fleet is two replicas that share a store, in a folder.
type fleet struct {
	t        *testing.T
	dir      string
	program  string
	replicas []*replica
}

func newFleet(t *testing.T) *fleet {
	t.Helper()
	f := &fleet{t: t, dir: t.TempDir(), program: filepath.Join(os.Getenv("BAILIWICK_PLAIN"), "bailiwick")}
	if err := os.Chmod(f.dir, 0o755); err != nil { // the processes of nginx have a user of their own
		t.Fatal(err)
	}
	if os.Getenv("BAILIWICK_PLAIN") == "" {
		f.program = filepath.Join(f.dir, "bailiwick")
		f.run("go", "build", "-C", "../..", "-o", f.program, "./cmd/bailiwick")
	}
	f.write("bailiwick.yaml", "store: sqlite:"+f.dir+"/bailiwick.db\nsources: {app: {url: \"sqlite:"+f.dir+"/bailiwick.app\"}}\n"+
		"policy: {unlisted: visible}\nlog: {calls: true}\n"+
		"limits: {rate: 100000/min}\n"+
		"server: {url: https://"+host+", hosts: ["+host+"], connections: {each: 1000}, drain: 10s}\n") // a busy machine checks a replica late
	f.database()
	f.certificate()
	for range 2 {
		r := &replica{fleet: f, addr: free(t)}
		f.replicas = append(f.replicas, r)
		r.start()
	}
	t.Cleanup(func() {
		for _, r := range f.replicas {
			if r.cmd != nil {
				_ = r.cmd.Process.Kill() // it may have ended
				<-r.ended
			}
		}
	})
	return f
}

func (f *fleet) write(name, text string) string {
	f.t.Helper()
	path := filepath.Join(f.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		f.t.Fatal(err)
	}
	return path
}

// run runs a program to its end and returns its output.
func (f *fleet) run(name string, args ...string) string {
	f.t.Helper()
	cmd := exec.CommandContext(f.t.Context(), name, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		f.t.Fatalf("%s %s: %v\n%s%s", name, strings.Join(args, " "), err, out.String(), errs.String())
	}
	return out.String()
}

// await waits for a condition.
func (f *fleet) await(what string, cond func() bool) {
	f.t.Helper()
	for end := time.Now().Add(ceiling); !cond(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			f.t.Fatalf("after %s: no %s\n%s", ceiling, what, f.logs())
		}
	}
}

// logs returns the end of each log.
func (f *fleet) logs() string {
	var b strings.Builder
	files, _ := filepath.Glob(filepath.Join(f.dir, "*.log")) // the pattern is right
	for _, file := range files {
		text, _ := os.ReadFile(file) // what is there helps
		fmt.Fprintf(&b, "%s:\n%s\n", filepath.Base(file), text[max(0, len(text)-1500):])
	}
	return b.String()
}

// database makes the source: two notes.
func (f *fleet) database() {
	f.t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(f.dir, "bailiwick.app"))
	if err != nil {
		f.t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(f.t.Context(), `CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT); INSERT INTO notes (text) VALUES ('one'), ('two')`); err != nil {
		f.t.Fatal(err)
	}
}

// certificate makes the certificate of host, in the files of nginx, Caddy and HAProxy.
func (f *fleet) certificate() {
	f.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		f.t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: host}, DNSNames: []string{host},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(48 * time.Hour), IsCA: true, BasicConstraintsValid: true}
	cert, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
	if err != nil {
		f.t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		f.t.Fatal(err)
	}
	chain := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}))
	secret := string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}))
	f.write("fullchain.pem", chain)
	f.write("privkey.pem", secret)
	f.write(host+".pem", chain+secret)
}

// recorded returns how many calls the audit has.
func (f *fleet) recorded() (n int64) {
	f.t.Helper()
	lines := bufio.NewScanner(strings.NewReader(f.run(f.program, "audit", "export", "--config", filepath.Join(f.dir, "bailiwick.yaml"))))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r struct{ Tool string }
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			f.t.Fatal(err)
		}
		if r.Tool == "count_objects" {
			n++
		}
	}
	return n
}

// free returns a loopback address that nobody listens on.
func free(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// A replica is one process of the program at an address of its own.
type replica struct {
	fleet *fleet
	addr  string
	cmd   *exec.Cmd
	ended chan error

	mu  sync.Mutex
	log bytes.Buffer // since it was started
}

// Write collects the log.
func (r *replica) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.log.Write(p)
}

func (r *replica) logged() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.log.String()
}

// called reports whether the replica has answered a call through each of the proxies since it was started.
func (r *replica) called(fronts []*proxy) bool {
	log := r.logged()
	for _, p := range fronts {
		if !strings.Contains(log, p.principal) {
			return false
		}
	}
	return true
}

// start starts the process and waits until it is ready.
func (r *replica) start() {
	f := r.fleet
	f.t.Helper()
	r.mu.Lock()
	r.log.Reset()
	r.mu.Unlock()
	cmd := exec.Command(f.program, "serve", "--config", filepath.Join(f.dir, "bailiwick.yaml"), "--listen", r.addr)
	cmd.Stderr = r
	if err := cmd.Start(); err != nil {
		f.t.Fatal(err)
	}
	ended := make(chan error, 1)
	r.cmd, r.ended = cmd, ended
	go func() { ended <- cmd.Wait() }()
	f.await("ready replica", func() bool {
		req, err := http.NewRequestWithContext(f.t.Context(), http.MethodGet, "http://"+r.addr+"/readyz", nil)
		if err != nil {
			f.t.Fatal(err)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			return false
		}
		res.Body.Close()
		return res.StatusCode == http.StatusOK
	})
}

// stop asks the process to end, which it must do with code 0.
func (r *replica) stop(s syscall.Signal) {
	f := r.fleet
	f.t.Helper()
	if err := r.cmd.Process.Signal(s); err != nil {
		f.t.Fatal(err)
	}
	select {
	case err := <-r.ended:
		if err != nil {
			f.t.Errorf("the replica ended with %v\n%s", err, r.logged())
		}
	case <-time.After(ceiling):
		f.t.Fatalf("the replica does not end\n%s", r.logged())
	}
	r.cmd = nil
}

// A proxy is a running proxy in front of the fleet, with a token of its own.
type proxy struct {
	name, addr       string
	token, principal string
	client           *http.Client

	answered, lost atomic.Int64
}

// call is a call of the protocol without sessions.
const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"count_objects","arguments":{"class_name":"notes"},` +
	`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`

// load calls through the proxy, one call after the other, until done is closed and the proxy has had at least least calls. The calls take
// turns among sessions. Nil has none.
func (p *proxy) load(t *testing.T, done <-chan struct{}, least int64, sessions []string) {
	for n := 0; ; n++ {
		session := ""
		if sessions != nil {
			session = sessions[n%len(sessions)]
		}
		select {
		case <-done:
			if p.answered.Load()+p.lost.Load() >= least {
				return
			}
		case <-time.After(10 * time.Millisecond):
		}
		if err := p.ask(t.Context(), session); err != nil {
			if p.lost.Add(1) <= 5 {
				t.Errorf("%s: a call is lost: %v", p.name, err)
			}
			continue
		}
		p.answered.Add(1)
	}
}

// begin begins a session of the older protocol and returns its ID.
func (p *proxy) begin(t *testing.T) string {
	t.Helper()
	head := map[string]string{}
	res, body, err := p.post(t.Context(), `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`, head)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%s: no session: %v %s", p.name, err, body)
	}
	head["Mcp-Session-Id"], head["Mcp-Protocol-Version"] = res.Header.Get("Mcp-Session-Id"), "2025-11-25"
	if res, body, err = p.post(t.Context(), `{"jsonrpc":"2.0","method":"notifications/initialized"}`, head); err != nil || res.StatusCode != http.StatusAccepted {
		t.Fatalf("%s: the session does not begin: %v %s", p.name, err, body)
	}
	return head["Mcp-Session-Id"]
}

// ask makes one call, in a session unless that is "", and reports whether its answer is right.
func (p *proxy) ask(ctx context.Context, session string) error {
	head := map[string]string{"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "count_objects"}
	text := call
	if session != "" {
		head = map[string]string{"Mcp-Protocol-Version": "2025-11-25", "Mcp-Session-Id": session}
		text = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"count_objects","arguments":{"class_name":"notes"}}}`
	}
	res, body, err := p.post(ctx, text, head)
	if err != nil {
		return err
	}
	if res.StatusCode != http.StatusOK || !bytes.Contains(body, []byte(`"text":"2"`)) {
		return fmt.Errorf("%s: %s", res.Status, body)
	}
	return nil
}

// post sends a message. The client sends it again only if a connection was closed before it took the message, as nginx closes one after 1,000
// requests.
func (p *proxy) post(ctx context.Context, text string, head map[string]string) (*http.Response, []byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://"+host+"/mcp", strings.NewReader(text))
	if err != nil {
		return nil, nil, err
	}
	for k, v := range map[string]string{"Authorization": "Bearer " + p.token, "Content-Type": "application/json", "Accept": "application/json, text/event-stream"} {
		r.Header.Set(k, v)
	}
	for k, v := range head {
		r.Header.Set(k, v)
	}
	res, err := p.client.Do(r)
	if err != nil {
		return nil, nil, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return res, body, err
}

// proxies starts each installed proxy, and waits until it answers. Others are subtests that are left out.
func (f *fleet) proxies() (all []*proxy) {
	f.t.Helper()
	for _, name := range []string{"nginx", "haproxy", "caddy"} {
		program, why := services.Proxy(name)
		if why != "" {
			f.t.Run(name, func(t *testing.T) { t.Skipf("LEFT OUT: %s: %s", name, why) })
			continue
		}
		all = append(all, f.front(name, program))
	}
	return all
}

// front starts one proxy with its file of examples/deploy.
func (f *fleet) front(name, program string) *proxy {
	f.t.Helper()
	p := &proxy{name: name, addr: free(f.t)}
	args := map[string]func(string) []string{"nginx": f.nginx, "haproxy": f.haproxy, "caddy": f.caddy}[name](p.addr)
	log, err := os.Create(filepath.Join(f.dir, name+".log"))
	if err != nil {
		f.t.Fatal(err)
	}
	cmd := exec.Command(program, args...)
	cmd.Stdout, cmd.Stderr, cmd.Env = log, log, append(os.Environ(), "HOME="+f.dir)
	if err := cmd.Start(); err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // it may have ended
		_ = cmd.Wait()
		log.Close()
	})
	var made struct{ Token, ID string }
	out := f.run(f.program, "token", "create", "--config", filepath.Join(f.dir, "bailiwick.yaml"), "--name", "bot-"+name, "--owner", "ann", "--json")
	if err := json.Unmarshal([]byte(out), &made); err != nil || made.Token == "" {
		f.t.Fatal(out, err)
	}
	p.token, p.principal = made.Token, made.ID
	chain, err := os.ReadFile(filepath.Join(f.dir, "fullchain.pem"))
	if err != nil {
		f.t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(chain)
	p.client = &http.Client{Timeout: ceiling, Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 8,
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, p.addr)
		}}}
	f.t.Cleanup(p.client.CloseIdleConnections)
	f.await(name+" that passes requests on", func() bool {
		res, err := p.client.Get("https://" + host + "/healthz")
		if err != nil {
			return false
		}
		res.Body.Close()
		return res.StatusCode == http.StatusOK
	})
	return p
}

// example returns a file of examples/deploy with parts replaced, each of which must be there.
func (f *fleet) example(name string, replaced ...string) string {
	f.t.Helper()
	b, err := os.ReadFile("../../examples/deploy/" + name)
	if err != nil {
		f.t.Fatal(err)
	}
	text := string(b)
	for i := 0; i < len(replaced); i += 2 {
		if !strings.Contains(text, replaced[i]) {
			f.t.Fatalf("examples/deploy/%s has no %q", name, replaced[i])
		}
		text = strings.ReplaceAll(text, replaced[i], replaced[i+1])
	}
	return text
}

func (f *fleet) nginx(addr string) []string {
	a, b := f.replicas[0].addr, f.replicas[1].addr
	own := f.write("nginx-site.conf", f.example("nginx/bailiwick.conf", "    server 127.0.0.1:8420 max_fails=0;", "    server "+a+" max_fails=0; server "+b+" max_fails=0;",
		"listen 443", "listen "+addr, "/etc/letsencrypt/live/gate.example.com", f.dir))
	home := filepath.Join(f.dir, "nginx")
	if err := os.MkdirAll(home, 0o755); err != nil {
		f.t.Fatal(err)
	}
	conf := f.write("nginx.conf", "daemon off; pid "+home+"/pid; error_log stderr; events {} http { access_log off; client_body_temp_path "+home+"/a; proxy_temp_path "+home+
		"/b; fastcgi_temp_path "+home+"/c; uwsgi_temp_path "+home+"/d; scgi_temp_path "+home+"/e; include "+own+"; }")
	return []string{"-p", home, "-c", conf, "-e", "stderr"}
}

func (f *fleet) haproxy(addr string) []string {
	a, b := f.replicas[0].addr, f.replicas[1].addr
	return []string{"-db", "-f", f.write("haproxy.cfg", f.example("haproxy/haproxy.cfg", "    server a 127.0.0.1:8420\n", "    server a "+a+"\n    server b "+b+"\n",
		"bind :443", "bind "+addr, "/etc/haproxy/gate.example.com.pem", filepath.Join(f.dir, host+".pem")))}
}

func (f *fleet) caddy(addr string) []string {
	a, b := f.replicas[0].addr, f.replicas[1].addr
	_, port, _ := net.SplitHostPort(addr) // of free
	site := f.example("caddy/Caddyfile", "\treverse_proxy 127.0.0.1:8420 {", "\treverse_proxy "+a+" "+b+" {",
		"\ngate.example.com {", "\ngate.example.com:"+port+" {\n\ttls "+f.dir+"/fullchain.pem "+f.dir+"/privkey.pem\n\tbind 127.0.0.1")
	return []string{"run", "--adapter", "caddyfile", "--config", f.write("Caddyfile", "{\n\tadmin off\n\tauto_https disable_redirects\n\tstorage file_system "+f.dir+
		"/caddy\n\tskip_install_trust\n}\n"+site)}
}
