// Package resource makes URIs that hold a call, so that an agent can read what the call answers as a resource.
//
//	a call → URI, sealed, for an hour → the same call again, under the rules of that time
//
// The answer is not stored. Only its caller can use a URI. Files are the binary answers of HTTP APIs. The tool
// export_data makes URIs of large exports.
package resource
