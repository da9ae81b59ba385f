package secretnames

import "testing"

// TestMask checks which parts of texts Mask replaces.
func TestMask(t *testing.T) {
	for in, want := range map[string]string{
		"": "",
		"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl is a token":                                   "[masked] is a token",
		"-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nrest":                     "[masked]\nrest",
		"-----BEGIN PRIVATE KEY-----\nMIIE cut":                                                          "[masked]",
		"-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----":                                   "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----",
		"use ghp_0123456789abcdef0123 now":                                                               "use [masked] now",
		"sk_live_51HxQz9vTnWq, pk_live_51HxQz":                                                           "[masked], pk_live_51HxQz",
		"AKIAIOSFODNN7EXAMPLE":                                                                           "[masked]",
		"xoxb-123456789012-abc glpat-abcdefghij1234567890":                                               "[masked] [masked]",
		"SWMTKN-1-49nj1cmql0jkz5s954yi3oex3nedyz0fb0xx14ie39trti4wxv-8vxv8rssmk743ojnwacrr2e7c":          "[masked]",
		"postgres://app:hunter2@db:5432/app?x=1":                                                         "postgres://[masked]@db:5432/app?x=1",
		"https://example.com/a:b@c":                                                                      "https://example.com/a:b@c",
		"Server=db;User Id=sa;Password=p@ss;Timeout=3":                                                   "Server=db;User Id=sa;Password=[masked];Timeout=3",
		"AccountName=x;AccountKey=abc==;EndpointSuffix=y":                                                "AccountName=x;AccountKey=[masked];EndpointSuffix=y",
		"PORT=80\nSTRIPE_KEY=abc\nDB_PASS='a b'\nPUBLIC_KEY=x":                                           "PORT=80\nSTRIPE_KEY=[masked]\nDB_PASS=[masked]\nPUBLIC_KEY=x",
		"https://a.example/list?next_token=abc&page=2":                                                   "https://a.example/list?next_token=abc&page=2",
		"https://a.example/x?api_key=abc&page=2":                                                         "https://a.example/x?api_key=[masked]&page=2",
		"the token is in the mail; a = b; sk-learn; eyJ; ghp_short":                                      "the token is in the mail; a = b; sk-learn; eyJ; ghp_short",
		"https://bucket.example/o?X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F2026&X-Amz-Security-Token=abc": "https://bucket.example/o?X-Amz-Credential=[masked]&X-Amz-Security-Token=[masked]",
	} {
		if got := Mask(in, "[masked]"); got != want {
			t.Errorf("%s\n got %s\nwant %s", in, got, want)
		}
	}
}
