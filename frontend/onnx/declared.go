// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"strconv"

	"lathe/frontend/layers"
	"lathe/internal/diag"
	"lathe/ir"
)

// declared converts a use of an operation that the user has declared.
func (c *call) declared(o *layers.Op) {
	given := map[string]string{}
	for _, a := range c.n.attrs {
		text, ok := a.number()
		if !ok {
			c.fail(diag.OpsUse, "attribute %s is neither a number nor a list of numbers", quote(a.name))
		}
		given[a.name] = text
	}
	var args []*ir.Node
	for i := range c.in {
		if c.in[i] == nil {
			c.fail(diag.OpsUse, "input %d is absent", i)
			return
		}
		args = append(args, c.data(i))
	}
	if c.err != nil {
		return
	}
	nodes, err := c.b.Declared(c.place(""), o, given, args, len(c.n.out))
	if c.wrap(diag.OpsUse, err); c.err != nil {
		return
	}
	for i, n := range nodes {
		c.resultAt(i, n)
	}
}

// number is the attribute as a text that declarations take.
func (a *attr) number() (string, bool) {
	list := make([]float64, 0, len(a.floats)+len(a.ints))
	for _, v := range a.floats {
		list = append(list, float64(v))
	}
	for _, v := range a.ints {
		list = append(list, float64(v))
	}
	switch kind := a.kind; {
	case kind == kindFloat || kind == 0 && a.has>>kindFloat&1 != 0:
		return layers.Number(float64(a.f)), true
	case kind == kindInt || kind == 0 && a.has>>kindInt&1 != 0:
		return strconv.FormatInt(a.i, 10), true
	case kind == kindFloats, kind == kindInts, kind == 0 && a.has>>kindFloats&1+a.has>>kindInts&1 != 0:
		return layers.Numbers(list), true
	}
	return "", false
}
