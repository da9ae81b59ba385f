package api

// The files of the API beside the tracker's configuration, which includes ConfigFile.
const (
	ConfigFile   = "tracker-api.yaml"
	DocumentFile = "tracker-openapi.yaml"
	KeyFile      = "tracker-api.key"
	URLFile      = "tracker-api.url"
)

// Listen is where the API is served when nothing else is there: what the document says.
const Listen = "127.0.0.1:8421"

// Config is what agents may do with the API: YAML for a file that the configuration of the tracker includes. The other
// files are expected beside it.
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
