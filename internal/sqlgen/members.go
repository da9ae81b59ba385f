package sqlgen

import "github.com/bailiwick-dev/bailiwick/schema"

func (s sqlite) members(x operand, key string, f *schema.Field) (node, other string) {
	if f.Type == schema.Integer {
		return "CASE WHEN " + x.text + ".type IN ('integer', 'real') THEN " + x.text + ".value END", "+" + key
	}
	return "CASE " + x.text + ".type WHEN 'text' THEN " + x.text + ".value END", s.same(key, f, &schema.Field{Type: f.Type, Unordered: true})
}

func (p postgres) members(x operand, key string, f *schema.Field) (node, other string) {
	if f.Type == schema.Integer {
		return "CASE jsonb_typeof(" + x.text + ") WHEN 'number' THEN " + x.text + "::numeric END", key + "::numeric"
	}
	return p.string(x), p.text(key, f) + ` COLLATE "C"`
}

func (m mysql) members(x operand, key string, f *schema.Field) (node, other string) {
	if f.Type == schema.Integer {
		const decimal = " AS DECIMAL(65,30))"
		return "CASE WHEN JSON_TYPE(" + x.text + ") IN ('INTEGER', 'DOUBLE') THEN CAST(JSON_UNQUOTE(" + x.text + ")" + decimal + " END", "CAST(" + key + decimal
	}
	return nodeText(x.text), binary(key)
}
