package literals

import (
	"testing"

	"github.com/bailiwick-dev/bailiwick/value"
)

func of(t *testing.T, text string) value.Value {
	t.Helper()
	v, err := value.Read([]byte(text), 0)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestHolds checks the forms of points, the edges, and a known distance: from Oslo to Bergen it is 305 km.
func TestHolds(t *testing.T) {
	box, err := Box(of(t, `[[5, 59], [10.75, 61]]`))
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{
		`[10.75, 59]`: true, `[10.76, 59]`: false, `[5, 61.01]`: false, `[59, 10]`: false, `[10]`: false, `[10, 60, 5]`: false, `["10", 60]`: false, `null`: false, `10`: false,
		`{"type": "Point", "coordinates": [10.7, 59.9]}`: true, `{"type": "Point", "coordinates": [10.7, 59.9, 12]}`: true, `{"type": "Polygon", "coordinates": [10.7, 59.9]}`: false,
		`{"__type": "GeoPoint", "latitude": 59.9, "longitude": 10.7}`: true, `{"lat": 59.9, "lng": 10.7}`: true, `{"lat": 59.9, "lon": 10.7}`: true, `{"lat": 59.9}`: false, `{"x": 10, "y": 60}`: false,
	} {
		if box.Holds(of(t, text)) != want {
			t.Errorf("the box holds %s: %t", text, !want)
		}
	}
	for text, want := range map[string]bool{"(10.7,59.9)": true, "(59,10)": false, "(1e400,60)": false, "(NaN,60)": false, "x": false,
		"POINT(10.7 59.9)": true, "POINT(59 10)": false, "POINT(10.7,59.9)": false, "(10.7 59.9)": false, "POLYGON((10.7 59.9))": false} {
		if box.HoldsText(value.OfString(text)) != want {
			t.Errorf("the box holds %s: %t", text, !want)
		}
	}
	for radius, want := range map[string]bool{"304000": false, "306000": true} {
		metres, _ := of(t, radius).AsFloat()
		circle, err := Circle(value.OfArray([]value.Value{of(t, `[10.7522, 59.9139]`), value.OfFloat(metres / 6378100)}))
		if err != nil || circle.Holds(of(t, `[5.3221, 60.3913]`)) != want {
			t.Errorf("Bergen is within %s metres of Oslo: %t, %v", radius, !want, err)
		}
	}
	across, _ := Circle(of(t, `[[179.9, 0], 0.01]`))
	if !across.Holds(of(t, `[-179.9, 0]`)) || across.Holds(of(t, `[-179, 0]`)) {
		t.Error("a circle across the 180th meridian")
	}
	whole, _ := Circle(of(t, `[[0, 0], 3.15]`))
	if !whole.Holds(of(t, `[180, 0]`)) {
		t.Error("the antipode isn't on the whole earth")
	}
}

func TestText(t *testing.T) {
	for _, text := range []string{`{"$box":[[-1.5,2],[3,4.25]]}`, `{"$centerSphere":[[10,-60],0.001]}`} {
		var a Area
		var err error
		if m := of(t, text).Members()[0]; m.Name == "$box" {
			a, err = Box(m.Value)
		} else {
			a, err = Circle(m.Value)
		}
		again, ok := ReadArea(a.String())
		if err != nil || !ok || again != a || !value.Equal(a.Value(), of(t, text)) {
			t.Errorf("%s: %+v, %v, %+v, %s", text, a, err, again, a.Value())
		}
	}
	for _, text := range []string{"", "1 2", "a b c", "1 2 3 4 5 6"} {
		if _, ok := ReadArea(text); ok {
			t.Errorf("%q is an area", text)
		}
	}
}

// TestDistance checks the order by distance, a ring between two distances, and the text of a ring.
func TestDistance(t *testing.T) {
	ring := Area{From: [2]float64{10.7522, 59.9139}, Round: true, Radius: 0.05, Least: 0.01}
	for text, want := range map[string]string{`[10.7522, 59.9139]`: "0", `[5.3221, 60.3913]`: "47883647", `{"latitude":55.6761,"longitude":12.5683}`: "75860705", `[10]`: "", `null`: ""} {
		if got := ring.Distance(of(t, text)).String(); got != want {
			t.Errorf("%s is at %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]bool{`[10.7522, 59.9139]`: false, `[5.3221, 60.3913]`: true, `[12.5683, 55.6761]`: false} {
		if ring.Holds(of(t, text)) != want {
			t.Errorf("the ring holds %s: %t", text, !want)
		}
	}
	if d := ring.Distance(PointOfText(value.OfString("(10.7522,59.9139)"))); d.String() != "0" {
		t.Errorf("a point of PostgreSQL is at %s", d)
	}
	if again, ok := ReadArea(ring.String()); !ok || again != ring {
		t.Errorf("%s: %+v", ring, again)
	}
	if got := ring.Near().String(); got != `{"$nearSphere":[10.7522,59.9139],"$maxDistance":0.05,"$minDistance":0.01}` {
		t.Errorf("the operators of a ring: %s", got)
	}
}

func TestRefused(t *testing.T) {
	for text, want := range map[string]error{`[[1, 2]]`: errBox, `5`: errBox, `[[1, 91], [2, 92]]`: errPoint, `[[1, 2], "x"]`: errPoint, `[[2, 2], [1, 3]]`: errTurned, `[[1, 3], [2, 2]]`: errTurned} {
		if _, err := Box(of(t, text)); err != want {
			t.Errorf("%s: %v", text, err)
		}
	}
	for text, want := range map[string]error{`[[1, 2]]`: errCircle, `[[1, 2], -1]`: errCircle, `[[1, 2], 1000]`: errCircle, `[[181, 2], 1]`: errPoint, `[[1, 2], "1"]`: errCircle} {
		if _, err := Circle(of(t, text)); err != want {
			t.Errorf("%s: %v", text, err)
		}
	}
}
