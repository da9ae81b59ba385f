package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestHeld checks that the command check lists the operations that wait for a rule. The rule that the message
// suggests allows them.
func TestHeld(t *testing.T) {
	const document = `{"openapi": "3.0.3", "info": {"title": "Keeper", "version": "1"}, "paths": {
"/items": {"get": {"operationId": "listItems", "responses": {"200": {"description": "ok"}}}},
"/tokens/secret": {"get": {"operationId": "tokenSecret", "responses": {"200": {"description": "ok"}}}},
"/invitations": {"post": {"operationId": "invite", "responses": {"200": {"description": "ok"}}}}}}`
	const secret = `keeper: absent for agents until you confirm it, because its answer may hold credentials: tokenSecret. To confirm one, name it in apis.keeper.access: {operations: ["tokenSecret"], class: read}`
	const power = `keeper: forbidden to agents until you confirm it, because it changes who may do what: invite. To confirm one, name it in apis.keeper.access: {operations: ["invite"], class: write}`
	for rules, want := range map[string]string{
		`{}`: secret + "\n" + power,
		`{access: [{operations: ["tokenSecret"], class: read}]}`:                                               power,
		`{access: [{operations: ["tokenSecret"], class: read}, {operations: ["invite"], class: write}]}`:       "",
		`{access: [{operations: ["token*"], class: read}, {operations: ["*"], class: excluded}]}`:              secret,
		`{access: [{operations: ["*"], class: forbidden, reason: they are not for agents, instead: the app}]}`: "",
	} {
		dir := t.TempDir()
		file := filepath.Join(dir, "bailiwick.yaml")
		for path, text := range map[string]string{file: "store: sqlite:b.db\nsources:\n  keeper: {openapi: {document: keeper.json, base_url: \"https://keeper.test\"}}\napis: {keeper: " + rules + "}\n", filepath.Join(dir, "keeper.json"): document} {
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		c, err := LoadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		s, err := Examine(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(s.Warnings, "\n"); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", rules, got, want)
		}
	}
}
