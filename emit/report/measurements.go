// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	_ "embed" // the page
	"html/template"
	"strings"
)

// Measurements is a page of measurements: texts, plots and tables under headings.
type Measurements struct {
	Title    string
	Lead     []string // facts under the title
	Version  string   // that of the compiler
	Sections []Section
}

// Section is one part of such a page; what it lacks is left out.
type Section struct {
	Title string
	// Text stands in front, a paragraph each; `words` between backquotes are code.
	Text []string
	// Plots are SVG, without a prologue. They are trusted.
	Plots [][]byte
	// Table begins with its heads; a column whose cells begin with digits or signs holds numbers.
	Table [][]string
}

//go:embed measurements.html.tmpl
var measurementsText string

var measurements = template.Must(template.New("measurements").Funcs(words).Funcs(template.FuncMap{
	"trusted": func(svg []byte) template.HTML { return template.HTML(svg) },
	"css":     func() template.CSS { return template.CSS(style) },
	"right":   right,
}).Parse(measurementsText))

// right says that a column of a table holds numbers, which are aligned on the right; names in the first one are not.
func right(table [][]string, column int) bool {
	numbers := 0
	for _, row := range table[1:] {
		if column == 0 || column >= len(row) || row[column] == "" {
			continue
		}
		if !strings.ContainsRune("+-0123456789", rune(row[column][0])) {
			return false
		}
		numbers++
	}
	return numbers > 0
}

// HTML prints the page: one file that needs nothing else, the same bytes for the same measurements.
func (s *Measurements) HTML() ([]byte, error) {
	var b bytes.Buffer
	err := measurements.Execute(&b, s)
	return b.Bytes(), err
}
