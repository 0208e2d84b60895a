// SPDX-License-Identifier: Apache-2.0

package torch

import (
	"strconv"
	"strings"

	"lathe/frontend/layers"
	"lathe/internal/diag"
	"lathe/ir"
)

// declared converts a use of an operation of torch.library that the user has declared: tensors are its inputs in their
// order, and numbers its attributes by name.
func (c *call) declared(o *layers.Op) {
	if c.readsBad() {
		return
	}
	given := map[string]string{}
	var args []*ir.Node
	for _, in := range c.n.in {
		switch names := tensorNames(in.arg); {
		case in.arg.kind == "as_none":
		case len(names) > 0:
			for _, name := range names {
				n, err := c.nodeOf(name)
				c.wrap(err)
				args = append(args, n)
			}
		default:
			text, ok := c.numbers(in.arg)
			if !ok {
				c.fail(diag.OpsUse, "the argument %s is %s, neither a tensor nor numbers", in.name,
					strings.TrimPrefix(in.arg.kind, "as_"))
			}
			given[in.name] = text
		}
	}
	if c.err != nil {
		return
	}
	nodes, err := c.b.Declared(c.place, o, given, args, len(c.outs()))
	if c.wrap(err); c.err == nil {
		c.results(nodes[:len(c.outs())]...)
	}
}

// numbers is an argument as a text that declarations take.
func (c *call) numbers(a arg) (string, bool) {
	switch a.kind {
	case "as_bool":
		v, err := a.v.Bool()
		return strconv.FormatBool(v), err == nil
	case "as_int", "as_sym_int":
		n, err := c.whole(a)
		return strconv.FormatInt(n, 10), err == nil
	case "as_float":
		v, err := a.v.Float()
		return layers.Number(v), err == nil
	case "as_floats", "as_ints":
		items, err := a.v.List()
		list := make([]float64, len(items))
		for i := range items {
			v, e := items[i].Float()
			if list[i] = v; e != nil {
				return "", false
			}
		}
		return layers.Numbers(list), err == nil
	}
	return "", false
}
