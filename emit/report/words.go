// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"html/template"
	"math"
	"strconv"
	"strings"

	"lathe/internal/diag"
)

// words are how the page prints figures.
var words = template.FuncMap{
	"above": above, "at": at, "bar": bar, "code": code, "count": count, "cycles": cycles, "decibel": decibel,
	"figure": figure, "filled": filled, "histogram": histogram, "kbit": kbit, "length": length, "micros": micros,
	"percent": percent, "pipeline": pipeline, "rate": rate, "rounded": rounded, "scale": scale, "share": share,
	"wide": wide,
}

// count groups the digits of a number by commas.
func count(n int) string {
	digits := strconv.Itoa(n)
	sign := ""
	if n < 0 {
		sign, digits = "-", digits[1:]
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return sign + digits
}

// rounded prints a rate.
func rounded(v float64) string { return count(int(math.Round(v))) }

// above is how far a value lies over an aim.
func above(v, aim float64) string { return fmt.Sprintf("%.2f %% above", 100*(v/aim-1)) }

// cycles prints a mean number of cycles.
func cycles(v float64) string {
	if v == math.Trunc(v) {
		return count(int(v))
	}
	return fmt.Sprintf("%.2f", v)
}

// exact is the ratio in dB from which on there is no error (driver.SQNRLimit).
const exact = 300

// decibel prints a ratio; nil is no error at all.
func decibel(v *float64) string {
	if v == nil || *v >= exact {
		return "exact"
	}
	return fmt.Sprintf("%.1f dB", *v)
}

func percent(v float64) string { return fmt.Sprintf("%.2f %%", 100*v) }

// figure prints a value in four digits.
func figure(v float64) string { return diag.Number(v, 4) }

// share is a part of a whole in percent; empty where the whole is unknown.
func share(part, whole any) string {
	p, w := number(part), number(whole)
	if w == 0 {
		return ""
	}
	return fmt.Sprintf("%.1f %%", 100*p/w)
}

func number(v any) float64 {
	switch x := v.(type) {
	case int:
		return float64(x)
	case float64:
		return x
	case *int:
		return float64(*x)
	}
	return math.NaN()
}

// rate is samples a second at a clock in MHz and an initiation interval in cycles.
func rate(clockMHz float64, ii float64) string {
	if ii <= 0 {
		return "?"
	}
	r := clockMHz * 1e6 / ii
	if r < 100 {
		return figure(r)
	}
	return count(int(math.Round(r)))
}

// micros is a number of cycles at a clock in MHz as a time.
func micros(clockMHz float64, cycles int) string {
	if clockMHz <= 0 {
		return "?"
	}
	us := float64(cycles) / clockMHz
	return diag.Number(us, 3) + " µs"
}

// bar is the width in percent of the bar of one layer.
func bar(cycles, slowest int) string {
	return fmt.Sprintf("%.1f", 100*float64(cycles)/float64(max(slowest, cycles, 1)))
}

// kbit is the size of an image.
func kbit(i Image) string { return fmt.Sprintf("%.1f", float64(i.Words*i.Width)/1024) }

// code sets what stands in backquotes as code.
func code(text string) template.HTML {
	var b strings.Builder
	for i, part := range strings.Split(text, "`") {
		if part = template.HTMLEscapeString(part); i%2 == 1 {
			part = "<code>" + part + "</code>"
		}
		b.WriteString(part)
	}
	return template.HTML(b.String())
}
