// Package writes decides about writes.
//
//	write.Request ─Propose→ Draft ─source, rolled back→ change.Change ─approved─Allow→ Permit ─source→ records
//
// It is the counterpart of policy.Read: each write refers to data through the principal's views. A class, field or
// record outside of them is refused in the bytes of one that does not exist. The rules in force at that moment decide,
// when a change is proposed and again when it is applied. The zero Draft and the zero Permit refuse, and so does a
// change whose digest does not match its content.
//
// Proposed values are checked against their fields: type, required, allowed values, length and range. Each fault has
// its pointer, its rule and the nearest valid values. Valid values are converted to the types of their fields.
// Permissions are not part of this check, so its messages may be shown to everyone who sees the fields. It accepts
// values that it cannot check: a field of type JSON, and a missing value that has a default.
//
// A Check checks the arguments of a declared call against a class that describes them (check_against). It uses the
// whole class, as its source describes it at that moment. A fault in a field that the caller sees refuses the call. A
// fault in another field, or a failed check, becomes a doubt that only reviewers see. Hidden fields and classes must
// look absent to the caller.
package writes
