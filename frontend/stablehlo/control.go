// SPDX-License-Identifier: Apache-2.0

package stablehlo

import (
	"lathe/frontend/layers"
	"lathe/frontend/stablehlo/syntax"
	"lathe/internal/diag"
)

// convertCall writes a function out where it is called.
func convertCall(c *call) {
	name := c.in.Callee
	if a := c.in.Attrs.Get("callee"); a != nil {
		name = a.Word()
	}
	c.inline(name)
}

// inline is the results of a function of the module.
func (c *call) inline(name string) {
	f := c.funcs[name]
	if f == nil {
		c.fail(diag.UnknownFunction, "unknown function @%s", name)
		return
	}
	outs, err := c.body(f, c.args, c.place(cleaned(name)))
	if err != nil {
		c.wrap(err)
		return
	}
	c.outs = append(c.outs, outs...)
}

// convertComposite takes an operation that is known by the name of the composite, and else its decomposition.
func convertComposite(c *call) {
	name := c.in.Attrs.Get("name").Word()
	for i := range c.in.Loose {
		if c.in.Loose[i].Kind == syntax.Text {
			name = c.in.Loose[i].Text
		}
	}
	if s := c.specs[name]; s != nil && name != "" && s.least <= len(c.args) {
		s.convert(c)
		return
	}
	body := c.in.Attrs.Get("decomposition").Word()
	if body == "" {
		c.fail(diag.UnsupportedForm, "the composite %q has no decomposition", name)
		return
	}
	c.inline(body)
}

// dropped are calls of the compiler that say nothing of values, or return their operand.
var dropped = [...]string{"Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape", "shape_assertion",
	"annotate_device_placement"}

// convertCustom refuses functions of other programs, but for those that only annotate.
func convertCustom(c *call) {
	name := c.in.Callee
	if a := c.in.Attrs.Get("call_target_name"); a != nil {
		name = a.Word()
	}
	for _, d := range dropped {
		if d == name {
			if len(c.in.Op.Results) > 0 {
				c.outs = append(c.outs, c.args...)
			}
			return
		}
	}
	if o := c.opts.Layers.StableHLO(name); o != nil {
		c.declared(o)
		return
	}
	e := c.Errorf(diag.UnsupportedOps, c.in.Op.At, "%s: the function %q of another program is not supported",
		c.in.Op.Name, name).WithHint("%s", layers.Declare("stablehlo", name))
	if near := c.opts.Layers.NearStableHLO(name); near != "" {
		e = e.WithHint("did you mean %s?", near)
	}
	c.wrap(e)
}
