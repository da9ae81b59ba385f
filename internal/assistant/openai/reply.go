package openai

import "github.com/bailiwick-dev/bailiwick/internal/assistant/llm"

// A reply is what the two formats gather in common.
type reply struct {
	llm.Reply
	text    func(string) // receives text as it arrives
	refused bool
}

// stopped returns the reply at its end, with why it ended; cut reports that it reached the most tokens.
func (out *reply) stopped(cut bool) llm.Reply {
	switch {
	case cut:
		out.Stop = llm.Length
	case out.Reason == "content_filter" || out.refused:
		out.Stop = llm.Declined
	case len(out.Message.Calls) > 0:
		out.Stop = llm.Calling
	default:
		out.Stop = llm.Done
	}
	return out.Reply
}
