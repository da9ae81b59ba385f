package response

import (
	"net/http"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// TestReasons has a row for each form in which services report an error, from their public documentation. A row
// contains the texts that must reach the agent, separated by bars.
func TestReasons(t *testing.T) {
	const j = "application/json"
	rows := []struct{ name, media, body, want string }{
		{"message", j, `{"message":"Name is taken"}`, "Name is taken"},
		{"error", j, `{"error":"Name is taken"}`, "Name is taken"},
		{"error object", j, `{"error":{"code":"taken","message":"Name is taken"}}`, "Name is taken"},
		{"Stripe", j, `{"error":{"type":"card_error","code":"card_declined","decline_code":"insufficient_funds","param":"source","message":"Your card was declined."}}`, "Your card was declined.|insufficient_funds"},
		{"GitHub", j, `{"message":"Validation Failed","errors":[{"resource":"Label","field":"name","code":"already_exists"}],"documentation_url":"https://docs.example/rest"}`, "Validation Failed|name: already_exists"},
		{"GitLab", j, `{"message":{"name":["has already been taken"]}}`, "name|has already been taken"},
		{"fields and codes", j, `[{"field":"email","code":"invalid"},{"field":"age","code":"too_small"}]`, "email: invalid|age: too_small"},
		{"FastAPI", j, `{"detail":[{"loc":["body","price"],"msg":"value is not a valid float","type":"type_error.float"}]}`, "body.price: value is not a valid float"},
		{"FastAPI, a text", j, `{"detail":"Item not found"}`, "Item not found"},
		{"Django REST", j, `{"title":["This field may not be blank."],"tags":["Not a list."]}`, "title: This field may not be blank.|tags: Not a list."},
		{"Django REST, all", j, `{"non_field_errors":["Passwords do not match."]}`, "Passwords do not match."},
		{"Django REST, nested", j, `{"user":{"email":["Enter a valid email."]}}`, "email: Enter a valid email."},
		{"NestJS", j, `{"statusCode":400,"message":["name must be longer than 3","age must be a number"],"error":"Bad Request"}`, "name must be longer than 3|age must be a number"},
		{"Google", j, `{"error":{"code":400,"message":"Invalid value","status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[{"field":"display_name","description":"must not be empty"}]}]}}`, "Invalid value|display_name: must not be empty"},
		{"gRPC gateway", j, `{"code":3,"message":"bad","details":[{"@type":"x/BadRequest","fieldViolations":[{"field":"a","description":"is required"}]}]}`, "bad|a: is required"},
		{"OData 2", j, `{"error":{"code":"005056A509B11EE1","message":{"lang":"en","value":"Resource not found"}}}`, "Resource not found"},
		{"OData 4", j, `{"error":{"code":"BadRequest","message":"Invalid filter","details":[{"code":"X","target":"$filter","message":"Syntax at 3"}]}}`, "Invalid filter|$filter: Syntax at 3"},
		{"Azure inner", j, `{"error":{"code":"Conflict","message":"Exists","innererror":{"code":"NameInUse"}}}`, "Exists"},
		{"problem+json", "application/problem+json", `{"type":"https://x/out-of-credit","title":"You do not have enough credit.","status":403,"detail":"Your balance is 30, it costs 50."}`, "Your balance is 30, it costs 50."},
		{"problem+json, params", "application/problem+json", `{"title":"Invalid","invalid-params":[{"name":"age","reason":"must be positive"}]}`, "Invalid|must be positive"},
		{"ASP.NET", j, `{"title":"One or more validation errors occurred.","status":400,"errors":{"Name":["The Name field is required."]}}`, "Name: The Name field is required."},
		{"Spring", j, `{"timestamp":"2026-01-01T00:00:00Z","status":400,"error":"Bad Request","message":"Validation failed","errors":[{"defaultMessage":"must not be null","field":"name"}],"path":"/x"}`, "Validation failed|must not be null"},
		{"Laravel", j, `{"message":"The given data was invalid.","errors":{"email":["The email has already been taken."]}}`, "email: The email has already been taken."},
		{"Rails", j, `{"errors":{"name":["can't be blank"]}}`, "name: can't be blank"},
		{"Rails, full", j, `{"errors":["Name can't be blank","Age is too low"]}`, "Name can't be blank|Age is too low"},
		{"Shopify", j, `{"errors":"Not Found here"}`, "Not Found here"},
		{"Shopify, error", j, `{"error":{"product":["is missing"]}}`, "product: is missing"},
		{"JSON:API", j, `{"errors":[{"status":"422","source":{"pointer":"/data/attributes/title"},"title":"Invalid","detail":"Title is too short."}]}`, "/data/attributes/title: Title is too short."},
		{"GraphQL", j, `{"errors":[{"message":"Cannot query field","extensions":{"code":"GRAPHQL_VALIDATION_FAILED"}}]}`, "Cannot query field"},
		{"Elasticsearch", j, `{"error":{"root_cause":[{"type":"index_not_found_exception","reason":"no such index [x]"}],"type":"index_not_found_exception","reason":"no such index [x]"},"status":404}`, "no such index [x]"},
		{"CouchDB", j, `{"error":"conflict","reason":"Document update conflict."}`, "Document update conflict."},
		{"Salesforce", j, `[{"message":"Required fields are missing: [Name]","errorCode":"REQUIRED_FIELD_MISSING","fields":["Name"]}]`, "Required fields are missing: [Name]"},
		{"Jira", j, `{"errorMessages":["Issue does not exist"],"errors":{"summary":"You must specify a summary."}}`, "Issue does not exist|summary: You must specify a summary."},
		{"HubSpot", j, `{"status":"error","message":"Property values were not valid","errors":[{"message":"was not one of the options","in":"lifecyclestage"}],"category":"VALIDATION_ERROR"}`, "Property values were not valid|was not one of the options"},
		{"Twilio", j, `{"code":21211,"message":"The 'To' number is not valid.","more_info":"https://x/21211","status":400}`, "The 'To' number is not valid."},
		{"JSON-RPC", j, `{"jsonrpc":"2.0","error":{"code":-32602,"message":"Invalid params","data":"name: expected string"},"id":1}`, "Invalid params|name: expected string"},
		{"PayPal", j, `{"name":"INVALID_REQUEST","message":"Request is not well-formed","details":[{"field":"/amount","issue":"MISSING_REQUIRED_PARAMETER","description":"A required field is missing."}]}`, "Request is not well-formed|/amount: A required field is missing."},
		{"Facebook", j, `{"error":{"message":"Unsupported post request","type":"GraphMethodException","code":100,"error_subcode":33,"error_user_msg":"The object does not exist","fbtrace_id":"x"}}`, "Unsupported post request|The object does not exist"},
		{"Cloudflare", j, `{"success":false,"errors":[{"code":1003,"message":"Invalid or missing zone id.","error_chain":[{"code":1,"message":"Zone must be a hex text"}]}],"messages":[],"result":null}`, "Invalid or missing zone id.|Zone must be a hex text"},
		{"Kubernetes", j, `{"kind":"Status","status":"Failure","message":"Pod \"x\" is invalid","reason":"Invalid","details":{"causes":[{"reason":"FieldValueRequired","message":"Required value","field":"spec.containers"}]},"code":422}`, `Pod "x" is invalid|spec.containers: Required value`},
		{"Vault", j, `{"errors":["1 error occurred: permission denied"]}`, "permission denied"},
		{"Zendesk", j, `{"error":"RecordInvalid","description":"Record validation errors","details":{"subject":[{"description":"Subject: cannot be blank","error":"BlankValue"}]}}`, "Record validation errors|Subject: cannot be blank"},
		{"AWS JSON", "application/x-amz-json-1.1", `{"__type":"ValidationException","Message":"2 validation errors detected"}`, "2 validation errors detected"},
		{"S3", "application/xml", `<?xml version="1.0"?><Error><Code>NoSuchKey</Code><Message>The specified key does not exist.</Message><Key>a</Key></Error>`, "The specified key does not exist."},
		{"AWS query", "text/xml", `<ErrorResponse xmlns="http://x"><Error><Type>Sender</Type><Code>InvalidParameterValue</Code><Message>Value for MaxItems is wrong</Message></Error><RequestId>r</RequestId></ErrorResponse>`, "Value for MaxItems is wrong"},
		{"SOAP", "text/xml; charset=utf-8", `<soap:Envelope xmlns:soap="http://x"><soap:Body><soap:Fault><faultcode>soap:Client</faultcode><faultstring>Account 7 is closed</faultstring></soap:Fault></soap:Body></soap:Envelope>`, "Account 7 is closed"},
		{"WebDAV", "application/xml", `<d:error xmlns:d="DAV:" xmlns:s="http://x"><s:exception>Locked</s:exception><s:message>The file is locked by Ada</s:message></d:error>`, "The file is locked by Ada"},
		{"XML with attributes", "application/xml", `<errors><error field="name">is too short</error><error field="age">is too low</error></errors>`, "is too short|is too low"},
		{"plain text", "text/plain", "quota exceeded for project 7", "quota exceeded for project 7"},
		{"text/csv", "text/csv", "line 3: bad date", "line 3: bad date"},
		{"a text called JSON", j, "upstream is down for maintenance", "upstream is down for maintenance"},
		{"JSON text", j, `"name is taken"`, "name is taken"},
		{"JSON Lines", "application/x-ndjson", "{\"error\":\"row 1 is bad\"}\n{\"error\":\"row 2 is bad\"}", "row 1 is bad|row 2 is bad"},
		{"own names", j, `{"ok":false,"why":"the shop is closed","hint":"opens at nine"}`, "the shop is closed|opens at nine"},
		{"own names, nested", j, `{"status":"fail","data":{"title":"A title is required"}}`, "A title is required"},
		{"Slack", j, `{"ok":false,"error":"channel_not_found","response_metadata":{"messages":["[ERROR] no such channel: C1"]}}`, "channel_not_found|no such channel: C1"},
		{"Symfony", j, `{"type":"x","title":"An error occurred","violations":[{"propertyPath":"email","message":"This value is not valid."}]}`, "email: This value is not valid."},
		{"Ajv", j, `{"errors":[{"instancePath":"/age","keyword":"minimum","params":{"limit":0},"message":"must be >= 0"}]}`, "/age|must be >= 0"},
		{"Zod", j, `{"success":false,"error":{"issues":[{"code":"too_small","minimum":3,"path":["user","name"],"message":"String must contain at least 3"}],"name":"ZodError"}}`, "String must contain at least 3"},
		{"Strapi", j, `{"data":null,"error":{"status":400,"name":"ValidationError","message":"2 errors occurred","details":{"errors":[{"path":["title"],"message":"title is required","name":"ValidationError"}]}}}`, "2 errors occurred|title is required"},
		{"Directus", j, `{"errors":[{"message":"Value for field \"slug\" has to be unique.","extensions":{"field":"slug","code":"RECORD_NOT_UNIQUE"}}]}`, `Value for field "slug" has to be unique.`},
		{"Hydra", "application/ld+json", `{"@type":"hydra:Error","hydra:title":"An error occurred","hydra:description":"email: not valid"}`, "email: not valid"},
		{"OAuth", j, `{"error":"invalid_scope","error_description":"The scope is unknown"}`, "The scope is unknown"},
		{"codes of codes", j, `{"errors":[{"code":"E1","params":{"max":"ten"}},{"code":"E2"}]}`, "E1|E2|ten"},
	}
	if len(rows) < 60 {
		t.Errorf("%d rows", len(rows))
	}
	for _, row := range rows {
		v, op := seen(t, "", "")
		_, err := Make(v, op, &calls.HTTPResponse{Status: 422, MediaType: mediaType(row.media), Header: http.Header{"Content-Type": {row.media}}, Body: []byte(row.body)}, Options{})
		p := problem.Of(err)
		for text := range strings.SplitSeq(row.want, "|") {
			if !strings.Contains(p.Detail, text) || p.Reply == nil || !strings.Contains(p.Reply.Message+p.Reply.UpstreamCode, text) {
				t.Errorf("%s: %q is not in %q", row.name, text, p.Detail)
			}
		}
		if p.Retryable() || strings.ContainsAny(p.Detail, "\n\r") || len(p.Reply.Message) > 4*maxMessage+maxRest {
			t.Errorf("%s: %+v", row.name, p)
		}
	}
}

// TestReasonsHide checks which parts of a failure never reach agents.
func TestReasonsHide(t *testing.T) {
	for _, row := range []struct{ media, body, not string }{
		{"application/json", `{"message":"m","why":"password=hunter2 was wrong"}`, "hunter2"},
		{"application/json", `{"message":"m","api_key":"sk_live_4eC39HqLyjWDarjtT1zdp7dc"}`, "4eC39"},
		{"application/json", `{"message":"m","why":"w","stack":"at f (/srv/app/x.js:1:2)"}`, "x.js"},
		{"application/json", `{"message":"m","exception":{"trace":["#0 /var/www/a.php"]},"why":"w"}`, "a.php"},
		{"application/json", `{"error":"no file /srv/app/secret/x.py:3"}`, "/srv/app"},
		{"application/xml", `<Error><Message>m</Message><StackTrace>at x.y(Z.java:3)</StackTrace></Error>`, "Z.java"},
		{"application/json", `{"salary":"canary","why":"w"}`, "canary"},
		{"text/html", `<html><body>Apache/2.4.1 at web7.internal</body></html>`, "web7"},
		{"application/json", `<html><body>Apache/2.4.1 at web7.internal</body></html>`, "web7"},
	} {
		v, op := seen(t, ref("Team"), "")
		_, err := Make(v, op, &calls.HTTPResponse{Status: 500, MediaType: row.media, Header: http.Header{}, Body: []byte(row.body)}, Options{})
		if p := problem.Of(err); strings.Contains(p.Detail, row.not) {
			t.Errorf("%s: %s", row.body, p.Detail)
		}
	}
}
