// SPDX-License-Identifier: Apache-2.0

package stablehlo

import (
	"lathe/frontend/layers"
	"lathe/internal/diag"
	"lathe/ir"
)

// declared converts a call of a function that the user has declared: the numbers of its backend_config are attributes.
func (c *call) declared(o *layers.Op) {
	given := map[string]string{}
	config := c.in.Attrs.Get("backend_config", "mhlo.backend_config")
	for _, a := range c.Dict(config) {
		v, ok := a.Value[0].Float()
		if !ok {
			c.fail(diag.OpsUse, "attribute %s of backend_config is no number", a.Name)
			return
		}
		given[a.Name] = layers.Number(v)
	}
	if text := config.Word(); len(given) == 0 && text != "" && text != "{" {
		c.fail(diag.OpsUse, "its backend_config %q is not a list of numbers", text)
	}
	if c.err != nil {
		return
	}
	args := make([]*ir.Node, len(c.args))
	for i, a := range c.args {
		args[i] = c.full(a)
	}
	nodes, err := c.b.Declared(c.at(), o, given, args, 0)
	if c.wrap(err); c.err != nil {
		return
	}
	c.done(nodes...)
}
