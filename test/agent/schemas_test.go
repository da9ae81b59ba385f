package agent

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/tool"
)

// music is a shop for music, as a well-known sample database has it.
const music = `
CREATE TABLE Artist (ArtistId INTEGER PRIMARY KEY, Name NVARCHAR(120));
CREATE TABLE Album (AlbumId INTEGER PRIMARY KEY, Title NVARCHAR(160) NOT NULL, ArtistId INTEGER NOT NULL REFERENCES Artist (ArtistId));
CREATE TABLE Employee (EmployeeId INTEGER PRIMARY KEY, LastName NVARCHAR(20) NOT NULL, FirstName NVARCHAR(20) NOT NULL, Title NVARCHAR(30), ReportsTo INTEGER REFERENCES Employee (EmployeeId),
	BirthDate DATETIME, HireDate DATETIME, Address NVARCHAR(70), City NVARCHAR(40), State NVARCHAR(40), Country NVARCHAR(40), PostalCode NVARCHAR(10), Phone NVARCHAR(24), Email NVARCHAR(60));
CREATE TABLE Customer (CustomerId INTEGER PRIMARY KEY, FirstName NVARCHAR(40) NOT NULL, LastName NVARCHAR(20) NOT NULL, Company NVARCHAR(80), Address NVARCHAR(70), City NVARCHAR(40),
	State NVARCHAR(40), Country NVARCHAR(40), PostalCode NVARCHAR(10), Phone NVARCHAR(24), Email NVARCHAR(60) NOT NULL, SupportRepId INTEGER REFERENCES Employee (EmployeeId));
CREATE TABLE Genre (GenreId INTEGER PRIMARY KEY, Name NVARCHAR(120));
CREATE TABLE MediaType (MediaTypeId INTEGER PRIMARY KEY, Name NVARCHAR(120));
CREATE TABLE Invoice (InvoiceId INTEGER PRIMARY KEY, CustomerId INTEGER NOT NULL REFERENCES Customer (CustomerId), InvoiceDate DATETIME NOT NULL, BillingAddress NVARCHAR(70),
	BillingCity NVARCHAR(40), BillingState NVARCHAR(40), BillingCountry NVARCHAR(40), BillingPostalCode NVARCHAR(10), Total NUMERIC(10,2) NOT NULL);
CREATE TABLE Track (TrackId INTEGER PRIMARY KEY, Name NVARCHAR(200) NOT NULL, AlbumId INTEGER REFERENCES Album (AlbumId), MediaTypeId INTEGER NOT NULL REFERENCES MediaType (MediaTypeId),
	GenreId INTEGER REFERENCES Genre (GenreId), Composer NVARCHAR(220), Milliseconds INTEGER NOT NULL, Bytes INTEGER, UnitPrice NUMERIC(10,2) NOT NULL);
CREATE TABLE InvoiceLine (InvoiceLineId INTEGER PRIMARY KEY, InvoiceId INTEGER NOT NULL REFERENCES Invoice (InvoiceId), TrackId INTEGER NOT NULL REFERENCES Track (TrackId),
	UnitPrice NUMERIC(10,2) NOT NULL, Quantity INTEGER NOT NULL);
CREATE TABLE Playlist (PlaylistId INTEGER PRIMARY KEY, Name NVARCHAR(120));
CREATE TABLE PlaylistTrack (PlaylistId INTEGER NOT NULL REFERENCES Playlist (PlaylistId), TrackId INTEGER NOT NULL REFERENCES Track (TrackId), PRIMARY KEY (PlaylistId, TrackId));
CREATE INDEX IFK_AlbumArtistId ON Album (ArtistId); CREATE INDEX IFK_TrackAlbumId ON Track (AlbumId); CREATE INDEX IFK_InvoiceCustomerId ON Invoice (CustomerId);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60) INSERT INTO Customer SELECT i, 'F' || i, 'L' || i, NULL, i || ' Street', 'City ' || i, NULL,
	CASE WHEN i % 3 = 0 THEN 'Brazil' WHEN i % 2 = 0 THEN 'Canada' ELSE 'USA' END, '', '', 'c' || i || '@example.com', NULL FROM n;`

// many returns the statements of an application with many tables.
func many() string {
	var b strings.Builder
	for i := range 40 {
		fmt.Fprintf(&b, "CREATE TABLE part_%02d (id INTEGER PRIMARY KEY, name VARCHAR(255) NOT NULL, description TEXT, state VARCHAR(20) NOT NULL DEFAULT 'new' CHECK (state IN ('new', 'open', 'done')), "+
			"amount NUMERIC(12,2) DEFAULT 0, created_at DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP, updated_at DATETIME, position INTEGER NOT NULL DEFAULT 0, external_ref VARCHAR(64) UNIQUE", i)
		for j := range 1 + i%5 {
			if i > 0 {
				fmt.Fprintf(&b, ", part_%d_id INTEGER REFERENCES part_%02d (id)", j, (i*7+j*3)%i)
			}
		}
		fmt.Fprintf(&b, "); CREATE INDEX ix_%d ON part_%02d (state, created_at);", i, i)
	}
	return b.String()
}

// TestSchemaSizes checks that the compact form of a schema is at most 40 % of the full one, for all classes together.
// It also checks that get_all_schemas shows all of a small schema.
func TestSchemaSizes(t *testing.T) {
	made := func(name, statements string) *tool.Set {
		path := filepath.Join(t.TempDir(), name+".db")
		db, err := sql.Open("sqlite", path)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if _, err := db.Exec(statements); err != nil {
			t.Fatal(err)
		}
		set, _ := served(t, name, path, policy.Rules{Unlisted: true})
		return set
	}
	issues, _ := tracker(t)
	for _, tt := range []struct {
		name    string
		set     *tool.Set
		classes []string
		whole   bool
	}{
		{"tracker", issues, []string{"comments", "issue_labels", "issues", "labels", "organisations", "projects", "users"}, true},
		{"music", made("music", music), strings.Fields("Album Artist Customer Employee Genre Invoice InvoiceLine MediaType Playlist PlaylistTrack Track"), true},
		{"many", made("many", many()), parts(), false},
	} {
		said := func(line string) string {
			res, err := tt.set.Call(t.Context(), reader(), request(t, line))
			if err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			return res.Text
		}
		full := 0
		for _, class := range tt.classes {
			full += len(said(fmt.Sprintf(`get_schema {"class_name": %q, "format": "full"}`, class)))
		}
		short := len(said(`get_schema {"class_names": ["` + strings.Join(tt.classes, `", "`) + `"]}`))
		t.Logf("%s: %d tokens of %d, %d %%", tt.name, short/4, full/4, 100*short/full)
		if 100*short > 40*full {
			t.Errorf("%s: the compact form has %d bytes, the full one %d: %d %%, want at most 40", tt.name, short, full, 100*short/full)
		}
		all := said(`get_all_schemas {}`)
		if strings.Contains(all, "with all fields") != tt.whole || len(all) > 6100 {
			t.Errorf("%s: get_all_schemas has %d tokens, want the whole schema %v: %.200s", tt.name, len(all)/4, tt.whole, all)
		}
	}
}

// parts returns the names of the tables of many.
func parts() []string {
	var out []string
	for i := range 40 {
		out = append(out, fmt.Sprintf("part_%02d", i))
	}
	return out
}
