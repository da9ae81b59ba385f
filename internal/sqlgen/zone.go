package sqlgen

import "strconv"

// ZoneOffset parses a zone of the form +05:30 and returns its offset in minutes. The empty zone is UTC. A named zone
// has no fixed offset, so ok is false.
func ZoneOffset(zone string) (minutes int, ok bool) {
	if len(zone) != 6 || zone[3] != ':' || zone[0] != '+' && zone[0] != '-' {
		return 0, zone == ""
	}
	h, err := strconv.Atoi(zone[1:3])
	m, err2 := strconv.Atoi(zone[4:])
	if zone[0] == '-' {
		return -h*60 - m, err == nil && err2 == nil
	}
	return h*60 + m, err == nil && err2 == nil
}
