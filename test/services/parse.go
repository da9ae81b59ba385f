package services

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"
)

// ParseServer is how a private Parse Server is reached. Its application is a small shop, made by scripts/parse/seed.mjs.
type ParseServer struct {
	Port              int
	Database          string            // the URL of its PostgreSQL database, as a superuser
	AppID             string            `json:"app_id"`
	MasterKey         string            `json:"master_key"`
	ReadOnlyMasterKey string            `json:"read_only_master_key"`
	RESTKey           string            `json:"rest_key"`
	Users             map[string]string // passwords by user name
}

const parseVariable = "BAILIWICK_TEST_PARSE"

// Parse returns the private Parse Server, which all tests share: a test makes classes of its own.
func Parse(t testing.TB) ParseServer {
	t.Helper()
	return parseServer(t, false)
}

// ParseAlone is Parse for a test that writes records of the shop, or whose classes have names that other tests use. No test of
// any process uses the server at the same time.
func ParseAlone(t testing.TB) ParseServer {
	t.Helper()
	return parseServer(t, true)
}

func parseServer(t testing.TB, alone bool) ParseServer {
	t.Helper()
	path, why := serverURL(parseVariable)
	if why != "" {
		t.Skipf("LEFT OUT: Parse Server: %s", why)
	}
	var p ParseServer
	file, err := os.Open(path)
	if err == nil {
		t.Cleanup(func() { file.Close() })
		err = lock(file, alone)
	}
	if err == nil {
		err = json.NewDecoder(file).Decode(&p)
	}
	if err != nil {
		t.Fatalf("Parse Server at %s: %v", parseVariable, err)
	}
	return p
}

// URL returns the address of its REST API.
func (p ParseServer) URL() string { return fmt.Sprintf("http://127.0.0.1:%d/parse", p.Port) }
