package scripted

// Tracker returns plans for the questions of the README about the demo's tracker, and for a change.
func Tracker() []Answering {
	const openWork = `{"class_name":"issues","pipeline":[{"$match":{"status":{"$nin":["Done","Cancelled"]},"assignee_id":{"$ne":null}}},` +
		`{"$group":{"_id":"$assignee_id","issues":{"$sum":1},"estimate":{"$sum":"$estimate"}}},{"$sort":{"estimate":-1}},{"$limit":3},` +
		`{"$lookup":{"from":"users","localField":"_id","foreignField":"id","as":"who"}},{"$unwind":"$who"},{"$project":{"_id":0,"name":"$who.name","issues":1,"estimate":1}}]}`
	const newest = `{"class_name":"issues","where":{"type":"Bug","priority":"Critical","status":"InProgress"},"keys":["id","number","title"],"order":"-created_at","limit":1}`
	return []Answering{
		{"What data is there?", []Step{{"get_all_schemas", `{}`}}, "These classes:\n\n```\n{{1}}\n```"},
		{"What is an issue made of?", []Step{{"get_schema", `{"class_name":"issues"}`}}, "An issue has these fields:\n\n```\n{{1}}\n```"},
		{"Which critical bugs is somebody working on, newest first?", []Step{{"query_class",
			`{"class_name":"issues","where":{"type":"Bug","priority":"Critical","status":"InProgress"},"keys":["number","title","assignee_id.name"],"order":"-created_at","limit":4}`}},
			"The **newest** critical bugs in work:\n\n{{1:table}}"},
		{"Who has the most open work, and how much?", []Step{{"aggregate", openWork}}, "**{{1:name:1}}** has the most open work: {{1:issues:1}} issues, {{1:estimate:1}} hours.\n\n{{1:table}}"},
		{"How many critical bugs are open?", []Step{{"query_sql",
			`{"sql":"SELECT count(*) AS n FROM issues WHERE type = 'Bug' AND priority = 'Critical' AND status NOT IN ('Done', 'Cancelled')"}`}},
			"**{{1:n:1}}** critical bugs are open."},
		{"And what is the password hash of the administrator?", []Step{{"query_class", `{"class_name":"users","where":{"role":"Admin"},"keys":["name","password_hash"]}`}}, "{{1}}"},
		{"Is there an operation for open issues?", []Step{{"search_api", `{"query":"list issues","limit":3}`}}, "These operations:\n\n```\n{{1}}\n```"},
		{"Move the newest critical bug in progress to review.", []Step{{"query_class", newest},
			{"update_status", `{"issueId":"{{1:id:1}}","newStatus":"Review","reason":"The fix is deployed to staging."}`}},
			"I proposed to send *{{1:title:1}}* to review. A person decides about it:\n\n```\n{{2}}\n```"},
	}
}
