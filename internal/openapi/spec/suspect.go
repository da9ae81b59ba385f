package spec

import (
	"regexp"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/secretnames"
)

// A Suspicion is a kind of danger that an operation may have, or "".
type Suspicion string

// The kinds.
const (
	SuspectCredentials Suspicion = "credentials" // creates, changes or revokes credentials, or signs in
	SuspectRights      Suspicion = "rights"      // changes permissions
	SuspectApprovals   Suspicion = "approvals"   // decides an approval
	SuspectLimits      Suspicion = "limits"      // changes the features that an account may use
	SuspectHooks       Suspicion = "hooks"       // makes the service send events to an address
	SuspectMachines    Suspicion = "machines"    // opens a console or a rescue system
	SuspectCarries     Suspicion = "carries"     // carries other calls, to which rules don't apply
	SuspectShows       Suspicion = "shows"       // only reads, but its response may contain credentials
)

// Suspicions returns all kinds. The kinds that should be forbidden come first.
func Suspicions() []Suspicion {
	return []Suspicion{SuspectCredentials, SuspectRights, SuspectHooks, SuspectMachines, SuspectCarries, SuspectApprovals, SuspectLimits, SuspectShows}
}

// Reason returns the reason as a text for agents. The text follows "is not for agents: ".
func (k Suspicion) Reason() string {
	switch k {
	case SuspectCredentials:
		return "it makes, changes or ends credentials or sign-ins"
	case SuspectRights:
		return "it changes who may do what"
	case SuspectHooks:
		return "it makes the service send events to an address"
	case SuspectMachines:
		return "it opens a console, a rescue system or an administrator's session"
	case SuspectCarries:
		return "it carries other calls, which no rule here sees"
	case SuspectApprovals:
		return "it decides about an approval, which people do"
	case SuspectLimits:
		return "it changes what the account may use"
	case SuspectShows:
		return "its answer may hold credentials"
	}
	return ""
}

// words lists the terms that indicate each kind. A term of two words matches these words in that order.
var words = []struct {
	kind Suspicion
	say  []string
}{
	{SuspectCredentials, []string{"token", "secret", "credential", "cred", "auth", "password", "passwd", "passphrase", "passkey", "recovery code",
		"mfa", "otp", "totp", "2fa", "two factor", "webauthn", "login", "logout", "log out", "logoff", "log off", "signin", "sign in", "signout", "sign out", "signup", "sign up", "oauth", "o auth", "sso", "saml",
		"impersonate", "impersonation", "sudo", "act as", "unseal", "seal", "rekey", "rotate", "reveal", "card pin", "pin change", "change pin", "unwrap", "generate root", "kubeconfig", "account register", "user register", "auth register", "user session", "auth session", "account session"}},
	{SuspectApprovals, []string{"approve", "approval", "reject", "rejection", "review pending"}},
	{SuspectRights, []string{"iam", "permission", "role", "grant", "acl", "access control", "service account", "identity provider", "workload identity", "site admin",
		"robot account", "sysadmin", "superadmin", "superuser", "be an administrator", "trusted certificate", "client certificate", "cluster certificate",
		"user promote", "user demote", "member promote", "member demote", "promote user", "demote user", "promote guest", "ownership", "user policy", "set admin", "set owner", "make admin", "transfer owner", "transfer a repository", "transfer repository", "impersonator",
		"scim", "authenticator", "authorization server", "user factor", "enroll factor", "trusted origin", "ip allowlist", "ip allow list", "ip whitelist", "user exemption", "enterprise connection", "idp", "role mapping",
		"reinvite", "shared access", "restore access", "grant access", "give access"}},
	{SuspectShows, []string{"incoming hook", "incoming webhook", "inbound hook", "inbound webhook", "hook incoming", "webhook incoming", // the address is the credential
		"internal configuration", "internal config", "internal setting", "connection string", "connection uri", "connection url", "connection detail", "connection info", "console url", "console link", "remote console", "vnc", "novnc", "spice",
		"kube config", "kubectl config", "ovpn", "openvpn config", "wireguard config", "wireguard configuration", "wire guard config", "wire guard configuration", "vpn config", "vpn configuration", "openvpn configuration", "keystore", "key store", "mnemonic", "seed phrase", "user data", "userdata", "cloud init", "config var", "env var", "environment variable",
		"dotenv", "pem", "pfx", "p12", "pkcs12", "magic link", "session cookie", "backup code", "dsn", "signing certificate", "env", "portal url", "portal link", "portal session"}},
	{SuspectLimits, []string{"quota", "rate limit", "limit", "license", "licence", "entitlement"}},
}

// SuspicionOf returns the Suspicion of op, an operation of d with the given class.
func SuspicionOf(d *Document, op *Operation, class Class) Suspicion {
	name, summary := operationWords(op, class == ClassRead)
	if class == ClassRead {
		name, summary = public.Replace(name), public.Replace(summary)
	}
	if slices.ContainsFunc(op.Tags, func(tag string) bool { return slices.Contains(vaults, secretnames.Singular(strings.ToLower(tag))) }) {
		name += "secret "
	}
	if holdsKeys(op.Path) && !(class == ClassRead && strings.Contains(summary, aPublicKey)) {
		name += "api key "
	}
	if last := lastOf(op.Path); class == ClassRead && (strings.HasSuffix(last, "public-key") || strings.HasSuffix(last, ".pub") || last == "status" || last == "count") {
		return ""
	}
	switch {
	case class == ClassRead:
	case slices.Contains(pictures, lastOf(op.Path)):
		return ""
	case carries(op):
		return SuspectCarries
	case takesCredential(d, op):
		return SuspectCredentials
	case givesRights(d, op, name) || provesAddress(d, op):
		return SuspectRights
	}
	for _, w := range words {
		said := name
		if w.kind == SuspectCredentials || w.kind == SuspectRights || w.kind == SuspectShows {
			said += summary // for the other kinds, summaries mention the terms too often
		}
		if !slices.ContainsFunc(w.say, func(s string) bool { return strings.Contains(said, " "+s+" ") }) && !(w.kind == SuspectCredentials && namesKey(said, class == ClassRead)) {
			continue
		}
		switch {
		case class != ClassRead && w.kind != SuspectShows:
			return w.kind
		case class == ClassRead && (w.kind == SuspectCredentials || w.kind == SuspectShows), op.Method == "GET" && w.kind == SuspectShows:
			return SuspectShows
		}
	}
	if class == ClassRead {
		if returnsSecret(op) || connects(op) {
			return SuspectShows
		}
		return ""
	}
	return entry(op)
}

// pictures are the last segments of paths that change only how something looks.
var pictures = []string{"logo", "avatar", "icon", "picture", "photo", "image", "banner", "thumbnail", "favicon"}

// carriers matches the paths, without a version, of operations that carry other calls. carried matches summaries that
// say so.
var (
	carriers = regexp.MustCompile(`^(?:/(?:api|v?\d[\w.]*|rest))*/(?:\$?batch|graphql|json-?rpc|rpc|composite)/?$`)
	carried  = regexp.MustCompile(`(?i)\b(?:batch(?:ed)?|parallel|multiple|several|composite) (?:of )?(?:api |http )?(?:requests|calls)\b`)
)

// carries reports whether op carries other calls. Rules about the carried operations would not apply.
func carries(op *Operation) bool {
	return op.Method == "POST" && (carriers.MatchString(op.Path) || carried.MatchString(op.Summary))
}

// connects reports whether op reads how to connect to a database: /databases/{id}/connection.
func connects(op *Operation) bool {
	last := lastOf(op.Path)
	return (last == "connection" || last == "key") && strings.Contains(op.Path, "/{")
}

// lastOf returns the last segment of a path.
func lastOf(path string) string {
	path = strings.TrimSuffix(path, "/")
	return path[strings.LastIndexByte(path, '/')+1:]
}

// SuggestsWrite reports whether op seems to change something although its method is GET.
func SuggestsWrite(op *Operation) bool {
	return op.Method == "GET" && beginsWithWord(op, "logout", "verify", "confirm", "unsubscribe", "accept", "cancel", "delete", "remove", "reset", "restart", "run", "trigger", "callback")
}

// SuggestsRead reports whether op seems only to read although its method is POST.
func SuggestsRead(op *Operation) bool {
	return op.Method == "POST" && beginsWithWord(op, "check", "search", "query", "validate", "preview", "lookup", "find", "count", "list", "get", "info", "diff", "estimate", "exists", "explain")
}

// beginsWithWord reports whether the declared id or the last segment of the path begins with one of the words. If the
// segment contains dots, only its last part counts (documents.list).
func beginsWithWord(op *Operation, any ...string) bool {
	last := lastOf(op.Path)
	last = last[strings.LastIndexByte(last, '.')+1:]
	if op.Declared && slices.Contains(any, secretnames.First(ShortName(op.ID))) {
		return true
	}
	return !strings.HasPrefix(last, "{") && slices.Contains(any, secretnames.First(last))
}

// operationWords returns the words of op's path and id, and the words of its summary, in the singular and separated
// by spaces. If own is true, it omits the name of the service that contains the operation
// (AuthService/GetRestriction).
func operationWords(op *Operation, own bool) (name, summary string) {
	var b strings.Builder
	add := func(text string) {
		for _, w := range secretnames.Words(version.ReplaceAllString(text, "$1 $2")) {
			b.WriteString(withoutVersion(secretnames.Singular(w)) + " ")
		}
	}
	b.WriteByte(' ')
	for part := range strings.SplitSeq(op.Path, "/") {
		if !strings.Contains(part, "{") && !(own && service.MatchString(part)) {
			add(part)
		}
	}
	if op.Declared {
		b.WriteString("/ ") // so that words of two names don't match as one term
		id := op.ID
		if own && service.MatchString(id) {
			id = ShortName(id)
		}
		add(id)
	}
	name = harmlessTerms.Replace(b.String())
	b.Reset()
	b.WriteString("/ ")
	add(aside.ReplaceAllString(op.Summary, ""))
	return name, harmlessTerms.Replace(b.String())
}

// service matches the name of a service of remote procedures: bytebase.v1.AuthService.
var service = regexp.MustCompile(`\.v[0-9]\w*\.\w+Service\b`)

// aside matches a parenthesis in a summary, which mostly says who may call the operation.
var aside = regexp.MustCompile(`\([^)]*\)`)

// harmlessTerms replaces terms that contain one of the words but mean something else.
var harmlessTerms = strings.NewReplacer(" lease grant ", " lease ", " secret scanning alert ", " secret alert ", " secret scanning ", " scanning ", " input token ", " input ", " output token ", " output ", " credit grant ", " credit ", " page token ", " page ", " token count ", " count ", " rate token ", " rate ", " budget limit ", " budget ", " sign in person ", " person ", " rotate page ", " page ", " rotate image ", " image ")
