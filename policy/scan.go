package policy

import (
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// mostOrdered is the maximum number of records that a query may read in the order of an index without counting as a
// scan. It allows a page, but not an export.
const mostOrdered = 2000

// Access returns how the source would find the records that q starts from, for the principal. It returns the error that
// refuses q for any reason other than a scan.
func (p *Policy) Access(principal identity.Principal, q query.Query) (Access, error) {
	permit, err := p.narrow(principal, q)
	if err != nil {
		return Access{}, err
	}
	planned := *permit.plan
	planned.Order = nil // ignore the order: Access is about how records are found
	return p.access(&planned), nil
}

// scans refuses a plan that reads every record of a class, if the rules refuse scans. Lookups by id are never refused.
func (p *Policy) scans(planned *Plan) error {
	if !p.refuseScans {
		return nil
	}
	a := p.access(planned)
	if !a.Refused {
		return nil
	}
	return a.Refusal()
}

// access returns how the source would find the first records of a plan. An index can serve the filters of the tenant
// and of the principal as well as the query's own filter. An order counts only if nothing else narrows the records and
// few are read.
func (p *Policy) access(planned *Plan) Access {
	v, where := planned.View, []query.Filter{planned.Where}
	if planned.Program != nil {
		where = planned.Program.Leading()
	}
	var bounds []query.Filter
	for _, l := range v.layers {
		switch {
		case l.Name == "canonical": // most records are live
		case l.Through != nil:
			bounds = append(bounds, query.In{Path: query.Path{l.Through.Field}})
		default:
			bounds = append(bounds, l.Filter)
		}
	}
	var order *schema.Field
	if len(planned.Order) > 0 && planned.Where == nil && planned.Search == nil && planned.Order[0].Join < 0 && planned.Limit+planned.Skip <= mostOrdered {
		where, order = nil, planned.Order[0].Field
	}
	a := accessOf(scannedClass{Name: v.name, Class: v.Class(), Fields: v.Fields(), Field: v.Field, Found: planned.Search != nil, Where: where, Bounds: bounds, Order: order,
		Open: func(f *schema.Field) bool { return v.Mask(f.Name) == nil }})
	a.Refused = a.Scan && p.refuseScans && !v.class.rule.AllowScan
	return a
}

// sortNeedsScan reports whether a sample must not be ordered by f because that would read every record.
func (p *Policy) sortNeedsScan(v *View, f *schema.Field) bool {
	if !p.refuseScans || v.class.rule.AllowScan {
		return false
	}
	return p.access(&Plan{View: v, Order: []Order{{Join: -1, Field: f}}}).Scan
}
