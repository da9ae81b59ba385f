package fair

import (
	"errors"
	"fmt"
)

// Again is the number of seconds after which a sender may try again if there was no memory.
const Again = 2

// Busy returns the message for a *BusyError of a request. The message contains the bound.
func Busy(err error) string {
	var busy *BusyError
	if !errors.As(err, &busy) {
		return "Too many requests at a time"
	}
	return fmt.Sprintf("Too many large requests at a time: the bodies of requests of this size take at most %s of memory together. Try again in %d seconds", mib(busy.Bytes), Again)
}

// Heavy returns the message for a *WeightError.
func Heavy(e *WeightError) string {
	return fmt.Sprintf("Request body has about %d values, which take %s of memory: the requests of one caller may take %s. Send fewer values in one request", e.Values, mib(e.Bytes), mib(e.Most))
}

// mib formats a number of bytes in MiB.
func mib(bytes int64) string {
	if bytes >= 10<<20 {
		return fmt.Sprintf("%d MiB", bytes>>20)
	}
	return fmt.Sprintf("%.1f MiB", float64(bytes)/(1<<20))
}
