// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"math"
	"strconv"
	"strings"

	"lathe/emit/plot"
)

const (
	xUsage = "LO..HI, LO.. or ..HI: the part of the horizontal axis that the plot shows; default: all"
	yUsage = "the same of the vertical axis"
)

// readView reads --x and --y; "" shows all.
func readView(x, y string) (v plot.View, err error) {
	if v.X, err = readRange("--x", x); err == nil {
		v.Y, err = readRange("--y", y)
	}
	return v, err
}

func readRange(flag, text string) (r plot.Range, err error) {
	if text == "" {
		return r, nil
	}
	low, high, ok := strings.Cut(text, "..")
	wrong := usagef("%s %q is no range: 3..8, 3.. or ..8, the smaller number first", flag, text)
	if !ok || low+high == "" {
		return r, wrong
	}
	for _, end := range []struct {
		text string
		to   **float64
	}{{low, &r.Low}, {high, &r.High}} {
		if end.text == "" {
			continue
		}
		v, err := strconv.ParseFloat(end.text, 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return r, wrong
		}
		*end.to = &v
	}
	if r.Low != nil && r.High != nil && *r.Low >= *r.High {
		return r, wrong
	}
	return r, nil
}
