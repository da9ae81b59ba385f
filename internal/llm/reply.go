package llm

// A reply holds the parts of a reply that both formats have.
type reply struct {
	Reply
	text    func(string) // receives text as it arrives
	refused bool
}

// finish returns the reply at its end, with the reason for the end. cut reports that it reached the most tokens.
func (out *reply) finish(cut bool) Reply {
	switch {
	case cut:
		out.Stop = Length
	case out.Reason == "content_filter" || out.refused:
		out.Stop = Declined
	case len(out.Message.Calls) > 0:
		out.Stop = Calling
	default:
		out.Stop = Done
	}
	return out.Reply
}
