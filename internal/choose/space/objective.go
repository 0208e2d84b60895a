// SPDX-License-Identifier: Apache-2.0

package space

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"lathe/internal/choose"
	"lathe/ir/target"
	"lathe/search"
)

// figure is something that a trial is worth or costs.
type figure struct {
	name string
	most bool // more is better
	// hardware says that it is known before outputs are computed.
	hardware bool
	of       func(t *choose.Meter, p *choose.Point) (float64, bool)
	// device is what a part has of it; nil: nothing to compare with.
	device func(d *target.Device) float64
}

// same says that two figures are one, by whatever names.
func (f *figure) same(o *figure) bool {
	plain := func(name string) string {
		if name == "ii" {
			return "cycles"
		}
		return name
	}
	return plain(f.name) == plain(o.name)
}

func cost(of func(*choose.Cost) float64) func(*choose.Meter, *choose.Point) (float64, bool) {
	return func(_ *choose.Meter, p *choose.Point) (float64, bool) {
		if p.Cost == nil {
			return 0, false
		}
		return of(p.Cost), true
	}
}

func known(of func(*choose.Point) *float64) func(*choose.Meter, *choose.Point) (float64, bool) {
	return func(_ *choose.Meter, p *choose.Point) (float64, bool) {
		if v := of(p); v != nil {
			return *v, true
		}
		return 0, false
	}
}

// figures are all that objectives and limits may name.
var figures = []figure{
	{name: "accuracy", most: true, of: known(func(p *choose.Point) *float64 { return p.Accuracy })},
	{name: "score", most: true, of: known(func(p *choose.Point) *float64 { return p.Score })},
	{name: "sqnr", most: true, of: known(func(p *choose.Point) *float64 { return p.SQNR })},
	{name: "lut", hardware: true, of: cost(func(c *choose.Cost) float64 { return float64(c.LUT) }),
		device: func(d *target.Device) float64 { return float64(d.LUT) }},
	{name: "ff", hardware: true, of: cost(func(c *choose.Cost) float64 { return float64(c.FF) }),
		device: func(d *target.Device) float64 { return float64(d.FF) }},
	{name: "dsp", hardware: true, of: cost(func(c *choose.Cost) float64 { return float64(c.DSP) }),
		device: func(d *target.Device) float64 { return float64(d.DSP) }},
	{name: "bram", hardware: true, of: cost(func(c *choose.Cost) float64 { return c.BRAM }),
		device: func(d *target.Device) float64 { return d.RAM36() }},
	{name: "cycles", hardware: true, of: cost(func(c *choose.Cost) float64 { return c.Interval })},
	{name: "ii", hardware: true, of: cost(func(c *choose.Cost) float64 { return c.Interval })},
	{name: "bits", hardware: true, of: func(_ *choose.Meter, p *choose.Point) (float64, bool) {
		return float64(p.ModelBits), p.Refused == ""
	}},
	{name: "weight_bits", hardware: true, of: func(_ *choose.Meter, p *choose.Point) (float64, bool) {
		return p.WeightBits, p.Refused == ""
	}},
	{name: "share", hardware: true, of: func(t *choose.Meter, p *choose.Point) (float64, bool) {
		return t.Share(p), p.Cost != nil
	}},
}

func figureNames() []string {
	var names []string
	for _, f := range figures {
		names = append(names, f.name)
	}
	return names
}

func figureOf(name string) *figure {
	for i := range figures {
		if figures[i].name == name {
			return &figures[i]
		}
	}
	return nil
}

// Objective is one that a study has.
type Objective struct {
	*figure
	Direction search.Direction
}

// Name is the word that the space has for it.
func (o *Objective) Name() string { return o.name }

// readObjective reads "lut min"; without a direction, the one that everybody means.
func readObjective(text string) (*Objective, error) {
	words := strings.Fields(text)
	if len(words) == 0 || len(words) > 2 {
		return nil, fmt.Errorf("objective %q: write \"lut min\" or \"accuracy max\"", text)
	}
	f := figureOf(words[0])
	if f == nil {
		return nil, unknown("objective", words[0], figureNames())
	}
	o := &Objective{figure: f, Direction: search.Minimize}
	if f.most {
		o.Direction = search.Maximize
	}
	if len(words) == 1 {
		return o, nil
	}
	switch words[1] {
	case "min":
		o.Direction = search.Minimize
	case "max":
		o.Direction = search.Maximize
	default:
		return nil, unknown("direction", words[1], []string{"min", "max"})
	}
	return o, nil
}

// limit bounds a figure.
type limit struct {
	*figure
	least bool // the figure is at least value
	value float64
}

var limits = regexp.MustCompile(`^(<=|>=)\s*([0-9.eE+-]+)\s*(?:\*\s*(device))?$`)

// readLimit reads "<= 400" or "<= 0.8 * device".
func readLimit(name, text string, d *target.Device) (*limit, error) {
	f := figureOf(name)
	if f == nil {
		return nil, unknown("limit", name, figureNames())
	}
	m := limits.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil {
		return nil, fmt.Errorf("limit %s = %q: write \"<= 400\", \">= 0.7\" or \"<= 0.8 * device\"", name, text)
	}
	v, err := strconv.ParseFloat(m[2], 64)
	if err != nil {
		return nil, fmt.Errorf("limit %s = %q: %s is no number", name, text, m[2])
	}
	if m[3] != "" {
		if f.device == nil {
			return nil, fmt.Errorf("limit %s = %q: a device has no %s; write a number", name, text, name)
		}
		v *= f.device(d)
	}
	return &limit{f, m[1] == ">=", v}, nil
}

// violation is by how much a point breaks the limit, relative to it: more than 0 where it does.
func (l *limit) violation(t *choose.Meter, p *choose.Point) (float64, bool) {
	v, ok := l.of(t, p)
	if !ok {
		return 0, false
	}
	over := v - l.value
	if l.least {
		over = -over
	}
	return over / math.Max(math.Abs(l.value), 1e-9), true
}
