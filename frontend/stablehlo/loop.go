// SPDX-License-Identifier: Apache-2.0

package stablehlo

import (
	"strconv"

	"lathe/frontend/build"
	"lathe/internal/diag"
	"lathe/ir"
)

// region converts the operations of a region for given arguments, under the names that the region or the operation has
// for them.
func (c *call) region(i int, args []value) []value {
	if c.err != nil {
		return nil
	}
	if i >= len(c.in.Regions) || len(c.in.Regions[i].Blocks) != 1 {
		c.fail(diag.UnsupportedForm, "region %d has no block, or several", i)
		return nil
	}
	block := c.in.Regions[i].Blocks[0]
	names := c.in.Names
	if len(block.Args) > 0 {
		names = nil
		for _, a := range block.Args {
			names = append(names, a.Name)
		}
	}
	if len(names) != len(args) {
		c.fail(diag.OperandCount, "a region of %d arguments for %d values", len(names), len(args))
		return nil
	}
	sc := c.sc.inner()
	for k, name := range names {
		sc.values[name] = args[k]
	}
	before := c.Reported()
	outs, err := c.block(sc, block.Ops)
	c.wrap(err)
	for _, v := range outs {
		if v.node == nil && c.err == nil && c.Reported() == before {
			c.fail(diag.UndefinedValue, "a region returns what has no value")
		}
	}
	return outs
}

// convertWhile writes a loop out whose condition is known before each round, as far as the options allow.
func convertWhile(c *call) {
	state := c.args
	for round := 0; ; round++ {
		cond := c.region(0, state)
		if c.err != nil {
			return
		}
		if len(cond) != 1 || cond[0].node == nil {
			return // what failed is reported
		}
		v, ok := build.Ints(cond[0].node)
		if !ok {
			c.err = c.loop("a loop whose end depends on data").WithHint("a loop of a known number of rounds can be written out")
			return
		}
		if v[0] == 0 {
			break
		}
		if round == c.opts.Unroll {
			e := c.loop("a loop of more than " + strconv.Itoa(round) + " rounds")
			if n := c.rounds(); n > round {
				e = c.loop("a loop of "+strconv.Itoa(n)+" rounds").WithHint("--unroll %d writes it out", n)
			} else {
				e.Hint = "--unroll N writes loops of up to N rounds out"
			}
			c.err = e
			return
		}
		state = c.region(1, state)
		if c.err != nil {
			return
		}
		if len(state) != len(c.args) {
			c.fail(diag.OperandCount, "the body of a loop of %d values returns %d", len(c.args), len(state))
			return
		}
	}
	c.outs = append(c.outs, state...)
}

// loop is an error about the operation that is no fault of the text.
func (c *call) loop(what string) *diag.Error {
	return c.Errorf(diag.UnboundedLoop, c.in.Op.At, "%s: %s is not supported", c.in.Op.Name, what)
}

// rounds guesses the number of rounds of the usual loop, which counts up to a constant by 1; 0 for others.
func (c *call) rounds() int {
	for _, v := range c.args {
		start, ok := build.Ints(v.node)
		if !ok || len(start) != 1 {
			continue
		}
		var state []value
		for _, a := range c.args {
			state = append(state, a)
		}
		// The condition holds below the end: it is found by halving.
		low, high := int64(0), int64(1)
		holds := func(n int64) bool {
			for i, a := range c.args {
				state[i] = a
				if a.node == v.node {
					state[i] = value{c.whole(a.node, start[0]+n), a.dims}
				}
			}
			cond := c.region(0, state)
			if len(cond) != 1 || c.err != nil {
				return false
			}
			r, ok := build.Ints(cond[0].node)
			return ok && r[0] != 0
		}
		for high < 1<<20 && holds(high) {
			low, high = high, 2*high
		}
		for high-low > 1 {
			if mid := (low + high) / 2; holds(mid) {
				low = mid
			} else {
				high = mid
			}
		}
		if c.err == nil && high < 1<<20 {
			return int(high)
		}
	}
	return 0
}

// convertIf takes one branch where the condition is known, and else both.
func convertIf(c *call) {
	if len(c.in.Regions) != 2 {
		c.fail(diag.UnsupportedForm, "%d branches", len(c.in.Regions))
		return
	}
	cond := c.args[0]
	if v, ok := build.Ints(cond.node); ok && len(v) == 1 {
		c.outs = c.region(1-int(v[0]&1), nil)
		return
	}
	c.branches(cond, c.region(0, nil), c.region(1, nil))
}

// convertCase takes one branch where the index is known, and else all; an index outside means the last.
func convertCase(c *call) {
	n := len(c.in.Regions)
	if n == 0 {
		c.fail(diag.UnsupportedForm, "no branches")
		return
	}
	index := c.args[0]
	if v, ok := build.Ints(index.node); ok && len(v) == 1 {
		if v[0] < 0 || v[0] >= int64(n) {
			v[0] = int64(n - 1)
		}
		c.outs = c.region(int(v[0]), nil)
		return
	}
	outs := c.region(n-1, nil)
	for i := n - 2; i >= 0 && c.err == nil; i-- {
		is := c.compare("eq", index, value{c.whole(index.node, int64(i)), index.dims})
		c.outs = nil
		c.branches(is, c.region(i, nil), outs)
		outs = c.outs
	}
	c.outs = outs
}

// branches chooses between the results of two regions, which have no effects.
func (c *call) branches(cond value, yes, no []value) {
	if c.err != nil {
		return
	}
	if len(yes) != len(no) || len(cond.dims) != 0 {
		c.fail(diag.OperandTypes, "branches of %d and of %d results", len(yes), len(no))
		return
	}
	for i := range yes {
		if yes[i].node == nil || no[i].node == nil {
			c.outs = append(c.outs, value{})
			continue
		}
		c.outs = append(c.outs, c.choose(value{cond.node, yes[i].dims}, yes[i], no[i]))
	}
}

// scalarCall is the result of a region for scalar constants, as numbers; ok is false where it is not constant.
func (c *call) scalarCall(i int, args []*ir.Node) (list []float64, ok bool) {
	var values []value
	for _, a := range args {
		values = append(values, wholeValue(a))
	}
	for _, v := range c.region(i, values) {
		x, ok := v.scalar()
		if !ok {
			return nil, false
		}
		list = append(list, x)
	}
	return list, c.err == nil
}
