package api

// The files of the API next to the tracker's configuration, which includes ConfigFile.
const (
	ConfigFile   = "tracker-api.yaml"
	DocumentFile = "tracker-openapi.yaml"
	KeyFile      = "tracker-api.key"
	URLFile      = "tracker-api.url"
)

// Listen is the default address of the API, as in the document.
const Listen = "127.0.0.1:8421"

// Config is the configuration of the API, in YAML, for a file that the tracker's configuration includes. It expects the
// other files in the same folder.
const Config = `# The tracker's own HTTP API: the same issues through the application's front door. Writes wait for people here too.
sources:
  web:
    openapi:
      document: tracker-openapi.yaml
      base_url: ${file:tracker-api.url}     # no call leaves this host; the demo serves it
      credential: {bearer: "file:tracker-api.key"} # who the gateway is there; agents' own tokens never go on

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
