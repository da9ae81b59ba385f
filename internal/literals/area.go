package literals

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/bailiwick-dev/bailiwick/value"
)

// An Area is a box or a circle. Coordinates are in degrees, with the longitude first.
type Area struct {
	From   [2]float64 // the south-west corner of a box, or the center of a circle
	To     [2]float64 // the north-east corner of a box
	Round  bool       // it is a circle
	Radius float64    // the radius of a circle, in radians
	Least  float64    // the minimum distance from the center of a circle, in radians
}

// Earth is the radius of the earth at the equator, in metres. WholeEarth is the radius, in radians, of a circle that
// contains all points.
const (
	Earth      = 6378100
	WholeEarth = 3.15
)

// The errors are sentences for the caller.
var (
	errPoint  = errors.New("a point is [longitude, latitude], from -180 to 180 and from -90 to 90")
	errBox    = errors.New("$box takes [[west, south], [east, north]]")
	errTurned = errors.New("$box takes its south-west corner first. A box across the 180th meridian is two boxes in an $or")
	errCircle = errors.New("$centerSphere takes [[longitude, latitude], radius], with the radius in radians, from 0 to 3.15: metres divided by 6378100")
)

// Box returns the area of a $box.
func Box(v value.Value) (Area, error) {
	if len(v.List()) != 2 {
		return Area{}, errBox
	}
	from, ok := pair(v.List()[0])
	to, also := pair(v.List()[1])
	switch {
	case !ok || !also:
		return Area{}, errPoint
	case from[0] > to[0] || from[1] > to[1]:
		return Area{}, errTurned
	}
	return Area{From: from, To: to}, nil
}

// Circle returns the area of a $centerSphere.
func Circle(v value.Value) (Area, error) {
	if len(v.List()) != 2 {
		return Area{}, errCircle
	}
	from, ok := pair(v.List()[0])
	if !ok {
		return Area{}, errPoint
	}
	radius, ok := v.List()[1].AsFloat()
	if !ok || !(radius >= 0 && radius <= WholeEarth) {
		return Area{}, errCircle
	}
	return Area{From: from, Round: true, Radius: radius}, nil
}

// Value returns the area as the operand of $geoWithin.
func (a Area) Value() value.Value {
	if a.Round {
		return value.OfObject([]value.Member{{Name: "$centerSphere", Value: value.OfArray([]value.Value{point(a.From), value.OfFloat(a.Radius)})}})
	}
	return value.OfObject([]value.Member{{Name: "$box", Value: value.OfArray([]value.Value{point(a.From), point(a.To)})}})
}

// Point returns the longitude and the latitude of a point in one of the forms that Holds accepts.
func Point(v value.Value) ([2]float64, error) {
	p, ok := pointOf(v)
	if !ok {
		return p, errPoint
	}
	return p, nil
}

// Near returns the area as the operators of a $nearSphere.
func (a Area) Near() value.Value {
	out := []value.Member{{Name: "$nearSphere", Value: point(a.From)}}
	if a.Radius < WholeEarth {
		out = append(out, value.Member{Name: "$maxDistance", Value: value.OfFloat(a.Radius)})
	}
	if a.Least > 0 {
		out = append(out, value.Member{Name: "$minDistance", Value: value.OfFloat(a.Least)})
	}
	return value.OfObject(out)
}

func point(p [2]float64) value.Value {
	return value.OfArray([]value.Value{value.OfFloat(p[0]), value.OfFloat(p[1])})
}

// String returns the area as text that ReadArea can parse.
func (a Area) String() string {
	numbers := []float64{a.From[0], a.From[1], a.To[0], a.To[1]}
	if a.Round {
		numbers = []float64{a.From[0], a.From[1], a.Radius}
		if a.Least > 0 {
			numbers = append(numbers, a.Least, 0)
		}
	}
	var parts []string
	for _, n := range numbers {
		parts = append(parts, strconv.FormatFloat(n, 'g', -1, 64))
	}
	return strings.Join(parts, " ")
}

// ReadArea parses a text that String returned.
func ReadArea(text string) (Area, bool) {
	var numbers []float64
	for part := range strings.FieldsSeq(text) {
		n, err := strconv.ParseFloat(part, 64)
		if err != nil {
			return Area{}, false
		}
		numbers = append(numbers, n)
	}
	switch len(numbers) {
	case 3:
		return Area{From: [2]float64(numbers[:2]), Round: true, Radius: numbers[2]}, true
	case 5:
		return Area{From: [2]float64(numbers[:2]), Round: true, Radius: numbers[2], Least: numbers[3]}, true
	case 4:
		return Area{From: [2]float64(numbers[:2]), To: [2]float64(numbers[2:])}, true
	}
	return Area{}, false
}

// Holds reports whether v is a point in the area. A point is GeoJSON, a pair [longitude, latitude], or an object with
// both by name. The edge belongs to the area. The sides of a box follow degrees. Distances are on a sphere, by the
// haversine formula.
func (a Area) Holds(v value.Value) bool {
	p, ok := pointOf(v)
	if !ok {
		return false
	}
	if !a.Round {
		return a.From[0] <= p[0] && p[0] <= a.To[0] && a.From[1] <= p[1] && p[1] <= a.To[1]
	}
	d := distance(a.From, p)
	return a.Least <= d && d <= a.Radius
}

// Distance returns the distance of the point v from a.From in billionths of a radian. One of them is about 6 mm. A
// whole number is the same on all processors for the same formula, and a cursor can store it exactly. Distance is null
// if v isn't a point.
func (a Area) Distance(v value.Value) value.Value {
	p, ok := pointOf(v)
	if !ok {
		return value.Value{}
	}
	return value.OfInt(int64(math.RoundToEven(distance(a.From, p) * 1e9)))
}

// HoldsText is Holds for a point in the text of PostgreSQL, (1.5,2), or of MariaDB, POINT(1.5 2).
func (a Area) HoldsText(v value.Value) bool { return a.Holds(PointOfText(v)) }

// PointOfText returns the pair of a point in the text of PostgreSQL or MariaDB. It is null if v isn't a point.
func PointOfText(v value.Value) value.Value {
	text, between := strings.TrimSuffix(v.Text(), ")"), ","
	if known, ok := strings.CutPrefix(text, "POINT"); ok {
		text, between = known, " "
	}
	x, y, ok := strings.Cut(strings.TrimPrefix(text, "("), between)
	lng, err := strconv.ParseFloat(x, 64)
	lat, also := strconv.ParseFloat(y, 64)
	if !ok || err != nil || also != nil {
		return value.Value{}
	}
	return point([2]float64{lng, lat})
}

// pointOf returns the point that a stored value represents.
func pointOf(v value.Value) ([2]float64, bool) {
	if v.Kind() == value.Array {
		return pair(v)
	}
	if kind, ok := v.Get("type"); ok && kind.Text() == "Point" {
		at, _ := v.Get("coordinates")
		if len(at.List()) == 3 { // an altitude
			at = value.OfArray(at.List()[:2])
		}
		return pair(at)
	}
	for _, names := range [][2]string{{"longitude", "latitude"}, {"lng", "lat"}, {"lon", "lat"}} {
		x, ok := v.Get(names[0])
		y, also := v.Get(names[1])
		if ok && also {
			return pair(value.OfArray([]value.Value{x, y}))
		}
	}
	return [2]float64{}, false
}

// pair returns the point in a list of two numbers.
func pair(v value.Value) (p [2]float64, ok bool) {
	if len(v.List()) != 2 {
		return p, false
	}
	for i, n := range v.List() {
		f, ok := n.AsFloat()
		if most := [2]float64{180, 90}[i]; !ok || !n.IsNumber() || !(math.Abs(f) <= most) {
			return p, false
		}
		p[i] = f
	}
	return p, true
}

// distance returns the angle between two points at the center of the earth, in radians.
func distance(a, b [2]float64) float64 {
	const degree = math.Pi / 180
	y, x := math.Sin((b[1]-a[1])*degree/2), math.Sin((b[0]-a[0])*degree/2)
	return 2 * math.Asin(math.Min(1, math.Sqrt(y*y+math.Cos(a[1]*degree)*math.Cos(b[1]*degree)*x*x)))
}
