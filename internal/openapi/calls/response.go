package calls

import "net/http"

// An HTTPResponse is the response of an API, of any status.
type HTTPResponse struct {
	Request   *HTTPRequest // the answered request: the Message's, or one from Redirected
	Status    int
	Header    http.Header // without cookies
	MediaType string      // lower case, without parameters, or ""
	Body      []byte      // decompressed
	Unread    string      // why the body of a write's response was not read: "it is larger than 8 MiB". "" if it was
	Free      func()      // gives back the memory of the response. Nil for none
}

// Close gives back the memory of the response. The response must not be used any more.
func (r *HTTPResponse) Close() {
	if r.Free != nil {
		r.Free()
	}
}

// Unsure reports whether the status leaves open if the API has processed a write: the API failed meanwhile, or a proxy
// lost its response.
func (r *HTTPResponse) Unsure() bool {
	return r.Status == http.StatusRequestTimeout || r.Status >= 500 && r.Status != http.StatusNotImplemented && r.Status != http.StatusHTTPVersionNotSupported
}
