package assistant_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/assistant"
	"github.com/bailiwick-dev/bailiwick/internal/llm"
	"github.com/bailiwick-dev/bailiwick/test/scripted"
)

// shapes is the start of the TypeScript program that TestShapes writes. It contains the types of the official SDKs.
const shapes = `import OpenAI from "openai";
import Anthropic from "@anthropic-ai/sdk";
import * as genai from "@google/genai";
type ChatRequest = OpenAI.Chat.Completions.ChatCompletionCreateParamsStreaming;
type ChatEvent = OpenAI.Chat.Completions.ChatCompletionChunk;
type ResponsesRequest = OpenAI.Responses.ResponseCreateParamsStreaming;
type ResponsesEvent = OpenAI.Responses.ResponseStreamEvent;
type MessagesRequest = Anthropic.MessageCreateParamsStreaming;
type MessagesEvent = Anthropic.RawMessageStreamEvent | { type: "ping" };
// The SDK wraps what goes over the wire in classes: their data is what is sent, with enums as strings.
type Wire<T> = T extends string ? ` + "`${T}`" + ` : T extends (...a: any[]) => any ? never : T extends (infer E)[] ? Wire<E>[] :
  T extends object ? { [K in keyof T as T[K] extends (...a: any[]) => any ? never : K]: Wire<T[K]> } : T;
type GeminiEvent = Partial<Pick<Wire<genai.GenerateContentResponse>, "candidates" | "modelVersion" | "responseId" | "promptFeedback" | "usageMetadata">>;
type GeminiRequest = {
  systemInstruction?: Wire<genai.Content>; contents: Wire<genai.Content>[]; tools?: { functionDeclarations: genai.FunctionDeclaration[] }[];
  toolConfig?: Wire<genai.ToolConfig>; generationConfig?: { maxOutputTokens?: number; temperature?: number; topP?: number };
};
`

// TestShapes writes the messages of whole conversations as a TypeScript program, into the file in BAILIWICK_SHAPES.
// "make formats" checks the program against the types in the providers' official SDKs.
func TestShapes(t *testing.T) {
	half := 0.5
	program := shapes
	n := 0
	literal := func(kind, data string) {
		n++
		program += fmt.Sprintf("const v%d: %s = %s;\n", n, kind, data)
	}
	kinds := map[string]string{"chat": "Chat", "responses": "Responses", "messages": "Messages", "gemini": "Gemini"}
	for name := range formats {
		s, url := serve(t, scripted.Play(
			scripted.Turn{Text: "I'll look.", Calls: []llm.Call{{Name: "count", Arguments: `{"class":"issues"}`}, {Name: "look", Arguments: `{}`}}},
			scripted.Turn{Text: "There are 42."},
			scripted.Turn{Refusal: "No.", Stop: llm.Declined},
			scripted.Turn{Text: "It is", Stop: llm.Length},
			scripted.Turn{Stop: llm.Declined},
			scripted.Turn{Calls: []llm.Call{{ID: "own", Name: "look", Arguments: `{}`}}},
			scripted.Turn{Text: "Enough."},
			scripted.Turn{Text: "A summary."},
		))
		sampling := assistant.Sampling{MaxTokens: 500, Temperature: &half, TopP: &half}
		if name == "anthropic" {
			sampling.Temperature, sampling.TopP = nil, nil
		}
		a := begin(t, name, url, assistant.Options{MaxRounds: 1, Sampling: sampling})
		for _, question := range []string{"How many?", "Why?", "Tell me all.", "And this?", "Go on."} {
			if _, err := a.Reply(t.Context(), question); err != nil {
				t.Fatal(name, err)
			}
		}
		if _, err := a.Compact(t.Context()); err != nil {
			t.Fatal(name, err)
		}
		for _, r := range s.Requests() {
			literal(kinds[r.Format]+"Request", string(r.Body))
		}
		for _, e := range s.Events() {
			if e.Data != "[DONE]" {
				literal(kinds[e.Format]+"Event", e.Data)
			}
		}
		for _, r := range s.Requests() {
			if !json.Valid(r.Body) || !strings.Contains(string(r.Body), "500") {
				t.Errorf("%s: %s", name, r.Body)
			}
		}
	}
	if path := os.Getenv("BAILIWICK_SHAPES"); path != "" {
		if err := os.WriteFile(path, []byte(program), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if n < 200 {
		t.Errorf("%d messages, want more than that", n)
	}
}
