package llm

// A reply contains the parts of a reply that both OpenAI formats share.
type reply struct {
	Reply
	text    func(string) // receives text as it arrives
	refused bool
}

// finish returns the complete reply with the reason why it ended. cut reports that the reply reached the maximum of
// tokens.
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
