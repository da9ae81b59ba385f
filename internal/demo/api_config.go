package demo

// The files of the API next to the tracker's configuration. The configuration includes APIConfigFile.
const (
	APIConfigFile   = "tracker-api.yaml"
	APIDocumentFile = "tracker-openapi.yaml"
	APIKeyFile      = "tracker-api.key"
	APIURLFile      = "tracker-api.url"
)

// ListenAPI is the default address of the API, as in its document.
const ListenAPI = "127.0.0.1:8421"

// APIConfig is the YAML configuration of the API. The tracker's configuration includes it as a file. The other files
// must be in the same folder.
const APIConfig = `# The tracker's own HTTP API: the same issues through the application's front door. Writes wait for people here too.
sources:
  web:
    openapi:
      document: tracker-openapi.yaml
      base_url: ${file:tracker-api.url}     # no call leaves this host; the demo serves it
      credential: {bearer: "file:tracker-api.key"} # who the gateway is there. Agents' own tokens never go on

apis:
  web:
    description: The tracker's own HTTP API.
    parameters:
      - {name: org, is: principal.tenant}   # agents leave it out; another organisation is refused
    hidden:
      - {fields: [Issue.internal_note, User.email]} # in the document, in arguments, in answers
    access:
      - {operations: [createKey], class: forbidden, reason: it makes a credential, instead: "the tracker, Settings, API keys"}
`
