package demo

// The sentences below are templates. Within one issue, {actor}, {thing}, {system} and {screen} always have the same
// value, and {other} is another thing of the project. {n}, {small}, {percent}, {ref} and {version} are numbers.
// {when}, {customer}, {browser} and {person} vary. A capitalized placeholder produces a capitalized word.

func epicTitles() []string {
	return []string{
		"Self-service {thing} handling for every {actor}", "Replace the {system}", "One {screen} for all teams",
		"{Thing} handling that survives an outage of the {system}", "Make the {screen} usable on a phone",
		"Cut the cost of the {system} by half", "Let a {actor} finish a {thing} without calling us",
		"Move the {system} to the new platform", "Every {thing} traceable from start to end"}
}

func storyTitles() []string {
	return []string{
		"As a {actor} I can correct a {thing} on the {screen}", "As a {actor} I see why a {thing} was refused",
		"As a {actor} I can filter the {screen} by date", "As a {actor} I can export each {thing} I may see",
		"As a {actor} I get a message when a {thing} is late", "As a {actor} I can undo the last change to a {thing}",
		"As a {actor} I can attach a note to a {thing}", "As a {actor} I can find a {thing} by a part of its number",
		"As a {actor} I can hand a {thing} over to a colleague", "As a {actor} I can see the history of a {thing}",
		"Show the state of the {system} on the {screen}", "Offer a {thing} template for the most common case"}
}

func taskTitles() []string {
	return []string{
		"Add an index for {thing} lookups by date", "Write the migration for the new {thing} columns",
		"Measure how long the {system} takes per {thing}", "Document how the {system} is restarted",
		"Remove the old {screen} behind its flag", "Give the {system} a health check", "Cover the {thing} rules with tests",
		"Limit how many times the {system} tries a {thing} again", "Upgrade the client of the {system} to {version}",
		"Rename the {thing} states to what people call them", "Record who changed a {thing}",
		"Agree the wording on the {screen} with support", "Rehearse restoring the {system} from a backup",
		"Split the {system} queue by organisation", "Log the reference of a {thing} instead of its contents"}
}

func bugTitles() []string {
	return []string{
		"{Screen} shows an empty {thing} after a time-out", "{Thing} is created twice when the {system} is slow",
		"Sorting by amount on the {screen} ignores the sign", "{System} drops a {thing} with an apostrophe in the name",
		"Wrong day on a {thing} made near midnight", "{Screen} freezes with more than {n} entries",
		"A {actor} without rights sees the edit button of a {thing}", "{System} reports success although the {thing} failed",
		"Accents are lost when a {thing} is exported", "The second page of the {screen} repeats the first entry",
		"{Thing} stays 'in progress' for ever when the {system} restarts", "Search on the {screen} finds nothing for numbers with a hyphen",
		"{Browser}: the {screen} jumps to the top after saving", "Mail about a late {thing} is sent {small} times"}
}

func contexts() []string {
	return []string{
		"Support counted {n} calls about this in {when}, most of them from one {actor} after another asking where the {thing} went.",
		"The {screen} was written when a {actor} handled a dozen {thing} entries a day; today it is closer to {n}.",
		"Since {when} the {system} has fallen behind every evening, and the {thing} that a {actor} entered last is the first to suffer.",
		"{Customer} asked for this in the quarterly review and will ask again.",
		"We promised {customer} an answer by the end of the month.",
		"Nobody on the team knows any more why a {thing} has to pass through the {system} twice.",
		"In {when} a {thing} was lost between the {screen} and the {system}; we found it by chance, in a log.",
		"At present a {actor} copies the number of the {thing} by hand, and one copy in {n} is wrong.",
		"The audit listed it under 'should', and the next one will list it under 'must'.",
		"It came up in the retrospective of {when}: every {other} that touches a {thing} costs us an afternoon."}
}

func details() []string {
	return []string{
		"The {system} answers within {n} ms for nine calls in ten, but the tenth takes {small} seconds.",
		"About {percent} % of all {thing} records are affected; {other} records are not.",
		"A {actor} should not have to know that the {system} exists.",
		"We keep the old {screen} for {small} weeks, then remove it.",
		"The number of the {thing} must stay the same, since {customer} prints it.",
		"If the {system} is away, say so on the {screen} and keep what was typed.",
		"A {thing} that is already closed is left alone.",
		"Nothing changes for the {other}: its rules stay as they are.",
		"The change is behind a flag until {customer} has tried it.",
		"Rights stay as they are: whoever may see a {thing} today may see it tomorrow, and nobody else.",
		"{Person} has a script that finds the {thing} records concerned; it takes {small} minutes.",
		"The same rule stands in the {system} and in the {screen}; one of the two has to go."}
}

func criteria() []string {
	return []string{
		"a {actor} sees the change on the {screen} within {small} seconds", "an invalid {thing} is refused with a sentence that says why",
		"the {system} can be restarted at any moment without losing a {thing}", "the old and the new {screen} show the same total",
		"no {thing} of another organisation ever appears", "it works with the keyboard alone",
		"{n} entries load in under {small} seconds", "the log names the {thing} by reference, never by content",
		"a {other} is left as it was", "the help page says what changed"}
}

func steps() []string {
	return []string{
		"Sign in as a {actor}", "Open the {screen}", "Choose a {thing} from {when}", "Change its date to the last day of the month",
		"Press **Save** twice quickly", "Stop the {system} for {small} minutes", "Go back with the browser's button",
		"Filter by `{ref}`", "Export the list", "Repeat with {n} entries"}
}

func outcomes() []string {
	return []string{
		"the {thing} appears twice", "the {screen} stays empty", "the total is off by {small}", "an error page with reference `{ref}`",
		"nothing happens, and the log of the {system} says `timeout after {n}ms`", "the {thing} has yesterday's date",
		"the message 'Something went wrong' and no more"}
}

func remarks() []string {
	return []string{
		"I can reproduce this with {browser}, not with the others.", "Looked into it: the {system} gives up after {n} ms and nobody tells the {screen}.",
		"{Person} saw the same in {when}.", "Can we split this? The part about the {thing} is clear, the rest is not.",
		"Moved to the next sprint; the {system} team has to answer first.", "Fixed on the branch, waiting for review.",
		"The fix is out with {version}. Please try again with the {thing} `{ref}`.", "Works for me now. Thank you!",
		"Still there in {version}, though less often: {small} times out of {n}.",
		"{Customer} confirmed that the new wording is clear.", "I would rather not touch the {system} before the release.",
		"Estimate is too low: the {screen} alone is a day.", "Agreed with {person}: we do the simple form first.",
		"What should happen to a {thing} that is half done?", "It should stay as it is and be marked, I think.",
		"Added a test that fails without the change.", "The query behind the {screen} reads {n},000 rows for a page of {small}.\n\n```sql\nEXPLAIN QUERY PLAN SELECT * FROM entries WHERE state = 'open' ORDER BY created_at;\n```",
		"Numbers after a day with the flag on:\n\n| | before | after |\n|---|---|---|\n| slow calls | {n} | {small} |\n| {thing} failures | {percent} % | 0 % |",
		"> What about the {other}?\n\nNot part of this one.", "Blocked: I have no rights on the {system}.",
		"Unblocked, {person} gave me access.", "Let us ask a {actor} before we build it.",
		"Asked {small} of them. All want to see the reference `{ref}` on the {screen}.", "👍", "Duplicate of the one from {when}? The traces look alike."}
}

func privateNotes() []string {
	return []string{
		"{Customer} threatens to leave over this; renewal is due in {when}. Do not mention the discount of {percent} %.",
		"Legal asked us not to write about the cause outside this note.", "{Person} made the mistake; already talked about, no need to repeat it.",
		"The workaround needs the administrator's password of the {system}: ask {person}, never write it down.",
		"Security: can be used to read a {thing} of another account. Keep quiet until it is fixed.",
		"Budget for this is gone; do it only if it takes less than {small} days."}
}

func customers() []string {
	return []string{"Northwind Traders", "Halvorsen & Sons", "Café Lumière", "Blue Heron Logistics", "Stadtwerke Nordheim", "O'Malley Retail",
		"Kestrel Insurance", "Pinegrove Schools", "Mirador Hotels", "Tanaka 商店"}
}

func browsers() []string {
	return []string{"Firefox", "Safari", "Chrome", "Edge", "the Android app"}
}
