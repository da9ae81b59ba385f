package demo

// A domain is the subject of a project. It contains the words that its issues use.
type domain struct {
	org, key, name, about string
	actors                []string // its users
	things                []string // the things it handles
	systems               []string // its components
	screens               []string // its screens
	issues                int      // number of issues
}

// domains returns the projects of both organisations.
func domains() []domain {
	return []domain{
		{Acme, "PAY", "Payments", "Taking money, giving it back and telling the accountants.",
			[]string{"merchant", "accountant", "shopper", "support agent"},
			[]string{"refund", "payout", "invoice", "card charge", "settlement file", "chargeback", "credit note"},
			[]string{"ledger", "card gateway", "settlement job", "payout scheduler", "webhook relay"},
			[]string{"refund page", "payout report", "checkout", "invoice list"}, 900},
		{Acme, "SHP", "Shipping", "From the packing table to the shopper's door, and back again.",
			[]string{"warehouse clerk", "driver", "shopper", "returns clerk"},
			[]string{"shipping label", "parcel", "pick list", "return", "delivery window", "customs form"},
			[]string{"label queue", "carrier adapter", "routing engine", "stock feed", "address checker"},
			[]string{"packing screen", "tracking page", "returns desk", "dock calendar"}, 700},
		{Acme, "WEB", "Storefront", "Everything a shopper sees before paying.",
			[]string{"shopper", "editor", "merchandiser", "first-time visitor"},
			[]string{"product page", "search result", "basket", "gift card", "wish list", "banner", "size chart"},
			[]string{"search index", "image resizer", "session store", "recommendation feed", "page cache"},
			[]string{"home page", "category page", "account page", "search page"}, 650},
		{Acme, "MOB", "Mobile app", "The storefront in a pocket, on iOS and Android.",
			[]string{"shopper", "returning customer", "tester", "store visitor"},
			[]string{"push message", "saved card", "barcode scan", "order history", "loyalty card", "deep link"},
			[]string{"sync engine", "push relay", "offline store", "camera module", "sign-in flow"},
			[]string{"start screen", "scanner", "order screen", "settings screen"}, 450},
		{Acme, "OPS", "Platform", "What keeps the other teams running.",
			[]string{"developer", "on-call engineer", "release manager", "auditor"},
			[]string{"deployment", "certificate", "backup", "alert", "feature flag", "cron job", "access request"},
			[]string{"build pipeline", "log collector", "secrets vault", "metrics store", "container registry"},
			[]string{"status page", "deploy dashboard", "alert console", "cost report"}, 400},
		{Globex, "MTR", "Metering", "Reading two million meters without missing one.",
			[]string{"field technician", "household", "grid operator", "data analyst"},
			[]string{"meter reading", "meter exchange", "reading gap", "load profile", "firmware update", "tamper alarm"},
			[]string{"reading collector", "gap filler", "head-end adapter", "validation step", "time-series store"},
			[]string{"meter card", "gap report", "exchange form", "reading chart"}, 600},
		{Globex, "BIL", "Billing", "Turning readings into bills that people can follow.",
			[]string{"customer", "billing clerk", "landlord", "collections agent"},
			[]string{"bill", "tariff", "instalment", "direct debit", "price change", "final account", "reminder"},
			[]string{"rating engine", "tariff table", "print spooler", "bank interface", "dunning run"},
			[]string{"bill preview", "tariff editor", "account overview", "payment plan form"}, 550},
		{Globex, "GRD", "Grid planning", "Where the next cable goes and which switch is old.",
			[]string{"planner", "grid operator", "surveyor", "regulator"},
			[]string{"feeder", "transformer", "outage", "switching plan", "connection request", "load forecast"},
			[]string{"topology model", "load-flow solver", "map tiles service", "forecast job", "asset register"},
			[]string{"network map", "outage board", "asset card", "scenario view"}, 400},
		{Globex, "FLD", "Field service", "Getting the right person to the right cabinet with the right part.",
			[]string{"field technician", "dispatcher", "contractor", "storekeeper"},
			[]string{"work order", "route", "spare part", "safety checklist", "photo report", "time sheet"},
			[]string{"route planner", "parts stock", "mobile sync", "signature capture", "calendar bridge"},
			[]string{"dispatch board", "job card", "parts search", "day view"}, 350},
	}
}

// A company is an organisation with its people.
type company struct {
	id, name, plan, mail string
	zone                 string
	people               []string
}

// companies returns the two organisations. The names contain accents, apostrophes and other scripts, like real names.
func companies() []company {
	return []company{
		{Acme, "Acme Outfitters", "Enterprise", "acme.example", "Europe/Dublin", []string{
			"Aoife Byrne", "Ben Okafor", "Carmen Díaz", "Daniel Weiss", "Elif Yılmaz", "Fergus O'Neill",
			"Grace Kim", "Hugo Lefèvre", "Ines Marques", "Jonas Lindqvist", "Kavita Rao", "Liam Murphy",
			"Mei 陈", "Noor Haddad", "Oskar Nowak", "Priya Nair", "Quentin Blanc", "Rosa Jiménez",
			"Siobhán Kelly", "Tomás Silva", "Uma Patel", "Viktor Hansen", "Wanjiru Kamau", "Yuki 佐藤"}},
		{Globex, "Globex Energy", "Team", "globex.example", "Europe/Berlin", []string{
			"Anna Vogel", "Bogdan Ionescu", "Chiara Conti", "Dmitri Sokolov", "Esra Şahin", "Felix Braun",
			"Greta Holm", "Henrik Dahl", "Ivana Kovač", "Jörg Müller", "Katarzyna Zielińska", "Luca Moretti",
			"Marta Svobodová", "Nils Becker", "Olena Kovalenko", "Paul D'Angelo"}},
	}
}

// labelNames returns the labels of each organisation.
func labelNames() []string {
	return []string{"accessibility", "api", "backend", "blocked", "customer", "data", "design", "docs", "flaky", "frontend",
		"good first issue", "performance", "privacy", "quick win", "regression", "security", "tech debt", "ux"}
}

// jobTitles returns job titles, in the order in which people joined.
func jobTitles() []string {
	return []string{"Head of Engineering", "Product Manager", "Engineer", "Designer", "Engineer", "Support Lead", "Engineer", "Analyst"}
}
