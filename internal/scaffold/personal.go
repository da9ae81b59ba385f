package scaffold

import (
	"regexp"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/samples"
	"github.com/bailiwick-dev/bailiwick/internal/secretnames"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// A personalKind is a kind of personal data with a pattern for field names. The names are lower-case words joined by
// "_".
type personalKind struct {
	names *regexp.Regexp
	what  string
	whole bool // no part of a value may be visible
}

// nameOfPerson describes a field with the name of a person.
const nameOfPerson = "the name of a person"

// personalKinds are tried in this order.
var personalKinds = []personalKind{
	{regexp.MustCompile(`(?:^|_)(?:e_?mails?|mail|e_?mail_?address|mail_?address)(?:_(?:normali[sz]ed|lower|canonical|new|old|[12]))?$`), "an e-mail address", false},
	{regexp.MustCompile(`(?:^|_)(?:phone|telephone|tel|mobile|fax|cell|cell_?phone|phone_?number|mobile_?(?:number|phone)|telephone_?number|msisdn|whatsapp)(?:_(?:sanitized|normali[sz]ed|number|home|work|[12]))?$`), "a telephone number", false},
	{regexp.MustCompile(`(?:^|_)(?:first|last|middle|given|family|full|real|maiden|sur|nick|contact|customer|employee|patient|student|teacher|guest|recipient|attendee|applicant|candidate|driver|billing|shipping|card_?holder)_?name(?:_?phonetic|_?kana)?$|(?:^|_)(?:surname|alternate_?name)$`), nameOfPerson, false},
	{regexp.MustCompile(`(?:^|_)(?:street|street_?\d|street_?address|address|address_?(?:line_?)?\d|(?:home|billing|shipping|postal|mailing|private|delivery|invoice)_?(?:address|street)|post_?code|zip|zip_?code|postal_?code)$`), "an address", false},
	{regexp.MustCompile(`(?:^|_)(?:birth_?(?:day|date)|date_of_birth|dob|born|born_on|birth)$`), "a date of birth", true},
	{regexp.MustCompile(`(?:^|_)(?:national_?id|national_?insurance|passport|passport_?(?:no|number|id)|tax_?id|tax_?number|taxvat|identification_?id|identity_?(?:card|number)|personal_?number|social_?security(?:_?number)?|driving_?licen[cs]e|nin|cpf|bsn|dni|sinid|permit_no|visa_no)$`), "a number by which a state knows a person", true},
	{regexp.MustCompile(`(?:^|_)(?:iban|account_?number|acc_?number|bank_?account(?:_?number)?|card_?number|cc_?number|credit_?card(?:_?number)?|routing_?number|sort_?code)$`), "a bank account or card", false},
	{regexp.MustCompile(`(?:^|_)(?:salary|wage|wages|income|compensation|pay_?rate|hourly_?rate|bonus)(?:_(?:amount|gross|net))?$`), "what a person earns", true},
	{regexp.MustCompile(`(?:^|_)(?:diagnos[ie]s|medical_\w+|medication|allerg(?:y|ies)|blood_?(?:type|group)|disabilit(?:y|ies)|health_\w+|illness|symptoms?|insurance_number|pregnan\w+)$`), "about a person's health", true},
	{regexp.MustCompile(`(?:^|_)(?:religion|ethnicity|ethnic_group|sexual_orientation|political_\w+|marital|marital_?status|gender|sex)$`), "of a person's private life", true},
}

// people lists names of classes of people, in the singular.
var people = []string{"user", "people", "person", "customer", "contact", "patient", "employee", "member", "subscriber", "lead", "candidate", "applicant", "student", "guest",
	"teacher", "driver", "client", "staff", "profile", "partner", "recipient", "attendee", "visitor", "owner", "actor", "author", "doctor", "nurse", "physician", "volunteer", "donor", "player", "passenger", "worker", "buyer", "seller", "artist",
	"speaker", "resident", "pupil", "parent", "child", "coach", "parishioner", "beneficiary", "beneficiarie", "freelancer", "consultant", "instructor", "mitarbeiter", "kunde", "kunden", "benutzer", "cliente", "usuario", "empleado", "utilisateur", "dipendente", "klant", "klanten", "klient", "pracownik"}

// events lists words for things that one person may have many of, in the singular. Names of classes can end with
// them.
var events = []string{"order", "invoice", "bill", "payment", "booking", "reservation", "appointment", "address", "addresse", "shipment", "delivery", "deliverie", "ticket", "case", "issue", "message", "mail", "email", "comment", "note", "review", "call", "visit", "sale", "purchase",
	"transaction", "transfer", "subscription", "contract", "quote", "quotation", "offer", "cart", "checkout", "return", "refund", "rental", "loan", "claim", "request", "log", "event", "session", "donation", "registration", "submission", "application", "response", "answer", "post", "line", "item", "entry", "entrie",
	"history", "historie", "stay", "trip", "ride", "examination", "prescription", "consultation", "certificate", "document", "letter", "card", "account", "payroll", "payslip"}

// itself reports whether a field contains the name of the person that the record is about. Only then does the key
// identify the person. An order with its customer's name is different, because the same customer would get a new
// pseudonym in each order.
func (g *guess) itself(field string) bool {
	words := secretnames.Words(g.class.Name)
	last := words[len(words)-1]
	if person(g.class.Name) {
		return true
	}
	if slices.Contains(events, last) || slices.Contains(events, strings.TrimSuffix(last, "s")) {
		return false
	}
	role := secretnames.Words(field)[0]
	return !slices.ContainsFunc(g.class.Fields, func(f schema.Field) bool { // such as customer_name next to customer_id
		w := secretnames.Words(f.Name)
		return f.Name != field && len(w) > 1 && w[0] == role && slices.Contains([]string{"id", "key", "no", "number", "uuid", "ref"}, w[len(w)-1])
	})
}

// person reports whether the name of a class suggests that its records are people.
func person(class string) bool {
	words := secretnames.Words(class)
	last := words[len(words)-1]
	if len(words) > 1 && slices.Contains([]string{"entity", "entities", "table", "tbl", "record", "records"}, last) {
		last = words[len(words)-2]
	}
	return slices.Contains(people, last) || slices.Contains(people, strings.TrimSuffix(last, "s"))
}

// personal returns the kind of personal data in f, judged by its name, its class or its values, or "". whole is true
// if no part of a value may be visible.
func personal(c *schema.Class, f *schema.Field, seen samples.Seen) (what string, whole bool) {
	name := strings.TrimRight(strings.Join(secretnames.Words(f.Name), "_"), "0123456789") // without digits, for example of phone1
	if f.Type == schema.Boolean || technical.MatchString(name) {
		return "", false
	}
	for _, k := range personalKinds {
		if k.names.MatchString(name) {
			return k.what, k.whole
		}
	}
	switch {
	case name == "name" && person(c.Name), name == "display_name" && person(c.Name):
		return nameOfPerson, false
	case seen.Mails > 0 && seen.Mails*2 >= seen.Values:
		return "an e-mail address, by its values", false
	case seen.Phones > 0 && seen.Phones*5 >= seen.Values*4:
		return "a telephone number, by its values", false
	}
	return "", false
}

// technical matches names of addresses and settings that don't belong to people.
var technical = regexp.MustCompile(`(?:^|_)(?:ip|mac|memory|web|host|server|proxy|wallet|contract|callback|smtp|imap|from|reply_to|sender|listen|bind|remote|peer)_?(?:address|mail|e_?mail)$`)
