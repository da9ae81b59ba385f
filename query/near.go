package query

import (
	"math"

	"github.com/bailiwick-dev/bailiwick/internal/literals"
	"github.com/bailiwick-dev/bailiwick/value"
)

// geoWithin parses the area of a $geoWithin.
func (o operand) geoWithin(path Path) Filter {
	read := map[string]func(value.Value) (literals.Area, error){"$box": literals.Box, "$centerSphere": literals.Circle}
	ms := o.v.Members()
	if len(ms) != 1 || read[ms[0].Name] == nil {
		o.refuse(invalidWithHint(o.at, `$geoWithin takes {"$box": [[west, south], [east, north]]} or {"$centerSphere": [[longitude, latitude], radians]}`,
			"Write one of them. Metres divided by 6378100 are radians."))
		return GeoWithin{Path: path, At: o.at}
	}
	a, err := read[ms[0].Name](ms[0].Value)
	if err != nil {
		o.refuse(invalid(Pointer(o.at, ms[0].Name), err.Error()))
	}
	return GeoWithin{Path: path, Area: a, At: o.at}
}

// place parses the operators on points. It returns nil for an operator that is part of another one.
func (o operand) place(path Path, among value.Value) Filter {
	switch o.name {
	case "$geoWithin":
		return o.countCondition(o.geoWithin(path))
	case "$near", "$nearSphere":
		return o.countCondition(o.nearest(path, among))
	}
	o.besideNear(among)
	return nil
}

// nearest parses $near and $nearSphere. If the operand has a $geometry, the distances are in the operand, in metres.
// Otherwise they are separate operators on the path, in radians or in the units of Parse Server.
func (o operand) nearest(path Path, among value.Value) Filter {
	f := GeoWithin{Path: path, Area: literals.Area{Round: true, Radius: literals.WholeEarth}, Near: true, Whole: true, At: o.at}
	if !o.ordered || o.near {
		o.refuse(invalidWithHint(o.at, o.name+" is allowed once, at the top of where or in an $and there, for it orders the records",
			`Use {"$geoWithin": {"$centerSphere": [[longitude, latitude], radians]}} here, which only finds them. Metres divided by 6378100 are radians.`))
	}
	o.near = true
	_, metric := o.v.Get("$geometry")
	_, geo := o.v.Get("type")
	switch {
	case metric:
		o.object("$geometry", "$maxDistance", "$minDistance")
		f.Area.From = o.need("$geometry").point()
		among = o.v
	case geo || o.name == "$near":
		o.refuse(invalidWithHint(o.at, o.name+` takes {"$geometry": {"type": "Point", "coordinates": [longitude, latitude]}, "$maxDistance": metres}`,
			"Write that, or $nearSphere with [longitude, latitude] or a GeoPoint, and beside it $maxDistance in radians."))
	default:
		f.Area.From = o.point()
		o.at = o.at[:len(o.at)-len(o.name)-1] // the distances are members of the object around it
	}
	o.v = among
	most, least := o.distances(metric)
	if f.Area.Radius, f.Area.Least = min(most, literals.WholeEarth), least; most < least {
		o.refuse(invalid(o.at, "$minDistance is more than $maxDistance, and nothing is at such a distance"))
	}
	return f
}

// point parses a point.
func (o operand) point() [2]float64 {
	p, err := literals.Point(o.v)
	if err != nil {
		o.refuse(invalid(o.at, err.Error()))
	}
	return p
}

// perRadian returns the length of a radian in the unit of a distance. Parse Server uses a smaller earth than MongoDB.
func perRadian(name string) float64 {
	switch name {
	case "$maxDistanceInKilometers":
		return 6371
	case "$maxDistanceInMiles":
		return 3959
	}
	return 1
}

// distances parses the distances among the members of o, and returns them in radians. metric means that they are in
// metres, which is so with a $geometry.
func (o operand) distances(metric bool) (most, least float64) {
	most = math.Inf(1)
	for m := range o.members {
		switch m.name {
		case "$maxDistance", "$maxDistanceInRadians", "$maxDistanceInKilometers", "$maxDistanceInMiles":
			if !math.IsInf(most, 1) {
				o.refuse(invalid(m.at, "there is another greatest distance: give one"))
			}
			most = m.distance(metric)
		case "$minDistance":
			least = m.distance(metric)
		}
	}
	return most, least
}

// distance parses one distance.
func (o operand) distance(metric bool) float64 {
	n, ok := o.v.AsFloat()
	if !ok || !o.v.IsNumber() || !(n >= 0 && n <= math.MaxFloat64) {
		o.refuse(invalid(o.at, o.name+" takes a number, 0 or more"))
	}
	if metric {
		return n / literals.Earth
	}
	return n / perRadian(o.name)
}

// besideNear refuses a distance without an operator to which it belongs. nearest parses the other distances.
func (o operand) besideNear(among value.Value) {
	if _, ok := among.Get("$near"); ok {
		o.refuse(invalidWithHint(o.at, o.name+" stands inside of $near, beside $geometry, in metres",
			`Write {"$near": {"$geometry": {"type": "Point", "coordinates": [longitude, latitude]}, "$maxDistance": metres}}.`))
	}
	near, ok := among.Get("$nearSphere")
	if !ok {
		o.refuse(invalidWithHint(o.at, o.name+" goes with $nearSphere", `Write {"$nearSphere": [longitude, latitude], "`+o.name+`": distance}, or use $geoWithin.`))
	}
	if _, metric := near.Get("$geometry"); metric {
		o.refuse(invalidWithHint(o.at, o.name+" stands inside of $nearSphere, beside $geometry, in metres",
			`Write {"$nearSphere": {"$geometry": {"type": "Point", "coordinates": [longitude, latitude]}, "$maxDistance": metres}}.`))
	}
}

// Operator returns the operator of f's written form.
func (f GeoWithin) Operator() string {
	if f.Near {
		return "$near"
	}
	return "$geoWithin"
}

// Distance returns the distance of the point v from the center of the area, in billionths of a radian. It returns null
// if v isn't a point.
func (f GeoWithin) Distance(v value.Value) value.Value {
	if f.Text {
		v = literals.PointOfText(v)
	}
	return f.Area.Distance(v)
}

// Nearest returns the part of f whose distance orders the records if they have no other order. It returns nil if there
// is none.
func Nearest(f Filter) *GeoWithin {
	switch f := f.(type) {
	case GeoWithin:
		if f.Near {
			return &f
		}
	case And:
		for _, part := range f {
			if g := Nearest(part); g != nil {
				return g
			}
		}
	}
	return nil
}
