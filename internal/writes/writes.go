// Package writes decides whether a principal may write.
//
//	write.Request ─Propose→ Draft ─source, rolled back→ change.Change ─approved─Allow→ Permit ─source→ records
//
// It is the counterpart of policy.Read. Each write refers to data through the principal's views. The error for a
// hidden class, field or record is identical to the error for a missing one. The rules are checked when a change is
// proposed, and the current rules again when it is applied. The zero Draft and the zero Permit refuse. Allow also
// refuses a change whose digest does not match its content.
//
// Proposed values are checked for type, presence, allowed values, length and range. Each fault contains a pointer, a
// rule and the nearest valid values. Valid values are converted to the types of their fields. This check does not
// depend on permissions, so its messages may be shown to everyone who sees the fields. It accepts values of type JSON
// unchecked, and missing values that have a default.
//
// A Check compares the arguments of a declared call with a class that describes them (check_against). It uses the
// whole class as its source currently describes it. A fault in a field that the caller sees refuses the call. A fault
// in another field, or a failed check, becomes a doubt that only reviewers see. Hidden fields and classes must look
// absent to the caller.
package writes
