package statements

import (
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest"
)

// points returns a relation from a field to the key of target.
func points(field, target string) schema.Relation {
	return schema.Relation{Fields: []string{field}, Target: target, TargetFields: []string{"id"}}
}

// shop returns the tables that the corpus reads.
func shop() []sourcetest.Table {
	id := sourcetest.Column{Name: "id", Is: schema.Integer, Required: true}
	return append(itemTables(), []sourcetest.Table{
		{Name: "customers", Key: []string{"id"}, Columns: []sourcetest.Column{id, {Name: "name", Is: schema.String, Required: true}, {Name: "city", Is: schema.String},
			{Name: "joined", Is: schema.Date}, {Name: "vip", Is: schema.Boolean}, {Name: "credit", Is: schema.Double}, {Name: "meta", Is: schema.JSON}},
			Rows: `
[1, "Ada",   "Oslo",   "2024-01-15T08:30:00Z", true,  100.5, {"tags": ["a", "b"], "age": 36}]
[2, "Bo",    "Bergen", "2024-02-29T23:59:59Z", false, 0,     {"tags": [], "age": 41}]
[3, "Cleo",  "Oslo",   "2025-03-01T00:00:00Z", null,  null,  null]
[4, "Dag",   null,     "2025-03-15T12:00:00Z", true,  -20.25, {"age": null}]
[5, "Eva",   "Rome",   null,                   false, 7,     {"tags": ["b"], "age": 29}]
[6, "eva",   "Rome",   "2026-06-01T10:00:00Z", true,  7,     {"deep": {"x": [1, {"y": 2}]}}]
[7, "O'Neil", "",      "2026-06-14T18:00:00Z", false, 1e6,   {}]
`},
		{Name: "products", Key: []string{"id"}, Columns: []sourcetest.Column{id, {Name: "name", Is: schema.String, Required: true}, {Name: "kind", Is: schema.String},
			{Name: "price", Is: schema.Double, Required: true}, {Name: "stock", Is: schema.Integer}},
			Rows: `
[1, "Lamp",    "home",  49.5, 10]
[2, "Chair",   "home",  120,  0]
[3, "Pen",     "desk",  1.25, 500]
[4, "Ink_100%", "desk", 8,    null]
[5, "Globe",   null,    75,   3]
`},
		{Name: "orders", Key: []string{"id"}, Foreign: []schema.Relation{points("customer_id", "customers")}, Columns: []sourcetest.Column{id, {Name: "customer_id", Is: schema.Integer},
			{Name: "status", Is: schema.String, Required: true}, {Name: "placed", Is: schema.Date, Required: true}, {Name: "shipped", Is: schema.Date}, {Name: "note", Is: schema.String}},
			Rows: `
[1,  1,    "paid",    "2026-01-05T09:00:00Z", "2026-01-07T09:00:00Z", "gift"]
[2,  1,    "paid",    "2026-01-20T10:15:30Z", "2026-01-20T22:15:30Z", null]
[3,  2,    "open",    "2026-02-03T11:00:00Z", null,                   ""]
[4,  2,    "void",    "2026-02-28T23:30:00Z", null,                   "Gift wrap"]
[5,  3,    "paid",    "2026-03-31T00:00:00Z", "2026-04-02T12:00:00Z", null]
[6,  null, "open",    "2026-03-31T08:00:00Z", null,                   "walk-in"]
[7,  4,    "paid",    "2026-05-01T00:00:00Z", "2026-05-01T06:00:00Z", "a_b"]
[8,  6,    "open",    "2026-06-10T16:45:00Z", null,                   "100%"]
[9,  6,    "paid",    "2026-06-14T20:00:00Z", "2026-06-15T08:00:00Z", null]
[10, 1,    "open",    "2026-06-15T11:59:59Z", null,                   "late"]
`},
		{Name: "staff", Key: []string{"id"}, Foreign: []schema.Relation{points("boss_id", "staff")}, Columns: []sourcetest.Column{id, {Name: "name", Is: schema.String, Required: true},
			{Name: "boss_id", Is: schema.Integer}, {Name: "pay", Is: schema.Integer}, {Name: "team", Is: schema.String}},
			Rows: `
[1, "Root",  null, 900, "top"]
[2, "Left",  1,    500, "a"]
[3, "Right", 1,    500, "b"]
[4, "Lefty", 2,    300, "a"]
[5, "Leo",   2,    null, "a"]
[6, "Rita",  3,    310, "b"]
[7, "Ray",   3,    310, "b"]
`},
	}...)
}

// itemTables returns the table of the products sold in each order.
func itemTables() []sourcetest.Table {
	return []sourcetest.Table{
		{Name: "items", Key: []string{"order_id", "line"}, Foreign: []schema.Relation{points("order_id", "orders"), points("product_id", "products")},
			Columns: []sourcetest.Column{{Name: "order_id", Is: schema.Integer, Required: true}, {Name: "line", Is: schema.Integer, Required: true},
				{Name: "product_id", Is: schema.Integer, Required: true}, {Name: "qty", Is: schema.Integer, Required: true}, {Name: "discount", Is: schema.Double}},
			Rows: `
[1, 1, 1, 2, null]
[1, 2, 3, 10, 0.1]
[2, 1, 2, 1, 0.25]
[3, 1, 3, 100, 0.5]
[4, 1, 4, 3, null]
[5, 1, 1, 1, 0]
[5, 2, 2, 4, null]
[5, 3, 3, 7, null]
[6, 1, 4, 1, null]
[7, 1, 5, 2, 0.2]
[8, 1, 1, 1, null]
[9, 1, 3, 25, null]
[9, 2, 5, 1, 0.1]
[10, 1, 2, 2, null]
`},
	}
}
