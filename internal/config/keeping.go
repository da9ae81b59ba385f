package config

import (
	"crypto/ed25519"
	"encoding/base64"
	"path/filepath"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/yamlconf"
)

// Audit is the section "audit". It configures how the record of every call is stored.
type Audit struct {
	Key     []byte        // the seed of the key that signs checkpoints. Nil means the key in the store
	Every   time.Duration // time between syncs of a store in a file. 0 means a sync before each answer
	Archive Archive
}

// Archive configures where and when a server moves old records of the audit to files.
type Archive struct {
	Folder string        // "" keeps all records in the store
	After  time.Duration // the age at which records are moved
}

// Shape returns the shape of the section.
func (a *Audit) Shape() yamlconf.Shape {
	const day = 24 * time.Hour
	return yamlconf.Object([]yamlconf.Key{
		{Name: "key", Doc: "What checkpoints are signed with: 32 bytes in base64 (openssl rand -base64 32), from the environment or a file. Without it the store keeps one, which does not protect from people who can read the store", Shape: yamlconf.Secret("32 bytes in base64", a.setKey)},
		{Name: "durability", Doc: "When a call is answered: each, the default, when its record is on the disk. With an interval, when it is written: the records of that time are lost if the machine stops, not if the process does. For a store in a file",
			Shape: yamlconf.Either(yamlconf.Choose([]string{"each"}, func(string) { a.Every = 0 }), yamlconf.Object([]yamlconf.Key{
				{Name: "interval", Doc: "Time between syncs, such as 50ms", Shape: yamlconf.Span(&a.Every, time.Millisecond, time.Second), Must: true},
			}, nil))},
		{Name: "archive", Doc: "Moves old records from the store to files, each hour, as bailiwick audit archive does. Without it the store keeps all records", Shape: yamlconf.Object([]yamlconf.Key{
			{Name: "folder", Doc: "The folder of the files. A relative one starts at this file's folder. Replicas share it", Shape: folder(&a.Archive.Folder), Must: true},
			{Name: "after", Doc: "The age of records that are moved, such as 90d. At least a day", Shape: yamlconf.Span(&a.Archive.After, day, 3650*day), Must: true},
		}, nil)},
	}, nil)
}

func (a *Audit) setKey(_, s string) string {
	key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(s))
	if err != nil || len(key) != ed25519.SeedSize {
		return "must be 32 bytes in base64, as `openssl rand -base64 32` prints them"
	}
	a.Key = key
	return ""
}

// folder returns the shape of a path. A relative path begins at the folder of the file that contains it.
func folder(into *string) yamlconf.Shape {
	inner := yamlconf.Text("a folder", func(path string) string {
		if strings.HasPrefix(path, "~") {
			return "~ is not expanded. Write ${HOME} for it"
		}
		*into = path
		return ""
	})
	return yamlconf.Shape{Schema: inner.Schema, Read: func(r *yamlconf.Reader, n yamlconf.Node, at string) {
		if inner.Read(r, n, at); *into != "" && !filepath.IsAbs(*into) {
			*into = filepath.Join(n.Folder(), *into)
		}
	}}
}

// Accounts is the section "accounts". It configures how people's accounts at HTTP APIs are stored.
type Accounts struct {
	Key, Previous []byte // 32 bytes, or nil
}

// Shape returns the shape of the section.
func (c *Accounts) Shape() yamlconf.Shape {
	key := func(into *[]byte) yamlconf.Shape {
		return yamlconf.Secret("32 bytes in base64", func(_, s string) string {
			key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(s))
			if err != nil || len(key) != 32 {
				return "must be 32 bytes in base64, as `openssl rand -base64 32` prints them"
			}
			*into = key
			return ""
		})
	}
	return yamlconf.Object([]yamlconf.Key{
		{Name: "key", Doc: "What seals people's tokens in the store: 32 bytes in base64 (openssl rand -base64 32), from the environment or a file, the same for all replicas", Must: true, Shape: key(&c.Key)},
		{Name: "previous_key", Doc: "The key before, after a change of key: what it sealed is sealed again with key when the server starts, and then it can be taken out", Shape: key(&c.Previous)},
	}, nil)
}
