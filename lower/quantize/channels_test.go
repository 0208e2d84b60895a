// SPDX-License-Identifier: Apache-2.0

package quantize

import (
	"context"
	"slices"
	"strings"
	"testing"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/curve"
	"lathe/ir/op/pointwise"
	"lathe/lower/lowertest"
	"lathe/lower/plan"
	"lathe/lower/quantize/loss"
)

// TestPlanChannels gives channels of results formats of their own: all else keeps the formats of the plan.
func TestPlanChannels(t *testing.T) {
	net := func(b *lowertest.Builder) *ir.Node {
		y := b.Add(pointwise.Relu, "relu", nil, b.Linear("y", b.Input("x", 1, 6), 4, true))
		return b.Linear("z", y, 3, true)
	}
	const rule = "[[quantize.rule]]\nname = %\nchannels = [\"ufixed(6,4)\", \"none\", \"ufixed(3,1)\", \"ufixed(2,2)\"]\n"
	b := lowertest.New(t, 3)
	g, _, err := Run(context.Background(), b.Done(net(b)), lowertest.Plan(t, strings.Replace(rule, "%", `"relu"`, 1)),
		Calibration{}, Options{})

	if err != nil {
		t.Fatal(err)
	}
	a := g.Find("relu.channels").Attrs.(*pointwise.QuantEachAttrs)
	if a.Format != "ufixed(6,4)" || !slices.Equal(a.Bits, []int{6, 0, 3, 2}) || !slices.Equal(a.Drop, []int{0, 0, 3, 2}) {
		t.Errorf("channels of %v", a)
	}
	if z := g.Find("z").Type.Format.String(); !strings.HasPrefix(z, "fixed(8") {
		t.Errorf("the result that no rule covers is %s, not of 8 bits", z)
	}
}

// TestPlanChannelsOnce wants one rounding: rules that cover the node say nothing of what rounds its channels, and in
// front of that stands every bit, or a format finer than all channels.
func TestPlanChannelsOnce(t *testing.T) {
	const relu, input = "[[quantize.rule]]\nname = \"relu\"\nchannels = [\"ufixed(6,4)\", \"none\", \"ufixed(12,9)\"]\n",
		"[[quantize.rule]]\nname = \"x\"\nchannels = [\"fixed(6,4)\", \"fixed(12,9)\"]\n"
	const every = "fixed(17,14,over=0..65535)"
	tanh := strings.Replace(relu, "relu", "tanh", 1)
	for _, c := range []struct{ about, plan, node, format, reader, note string }{
		{"exact", relu, "y", every, "relu.channels", ""},
		{"a rule for every node", relu + "[[quantize.rule]]\ndata_out = \"fixed(5,2)\"\n", "y", "fixed(5,2,over=0..15)",
			"relu.channels", "y is rounded twice: to data_out by plan.toml:5 [[quantize.rule]]"},
		{"a rule for the channels", relu + "[[quantize.rule]]\nop = \"quant_each\"\ndata_out = \"fixed(5,2)\"\n", "y",
			every, "relu.channels.cast", ""},
		{"a table", tanh, "tanh", "ufixed(16,13)", "tanh.channels", ""},
		{"a table, floored", "[quantize]\nround = \"floor\"\n" + tanh, "tanh", "ufixed(16,13,round=floor)",
			"tanh.channels", ""},
		{"an input", input, "x", "fixed(16,13)", "",
			`the plan rounds input "x" channel by channel: it comes in fixed(16,13)`},
		{"an input with a format", input + "[[input]]\nname = \"x\"\nformat = \"fixed(9,7)\"\n", "x", "fixed(9,7)", "", ""},
	} {
		b := lowertest.New(t, 3)
		x := b.Input("x", 1, 2)
		z := b.Linear("z", b.Add(pointwise.Relu, "relu", nil, b.Linear("y", x, 3, false)), 2, true)
		u := b.Linear("u", b.Add(curve.Tanh, "tanh", nil, b.Linear("v", x, 3, false)), 2, true)
		g, r, err := Run(context.Background(), b.Done(z, u), lowertest.Plan(t, c.plan), Calibration{}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if f := g.Find(c.node).Type.Format.String(); f != c.format {
			t.Errorf("%s: %s is %s, want %s", c.about, c.node, f, c.format)
		}
		if reader := map[string]string{"y": "z", "tanh": "u"}[c.node]; reader != "" &&
			g.Find(reader).Args[0].Name != c.reader {
			t.Errorf("%s: %s reads %s, want %s", c.about, reader, g.Find(reader).Args[0].Name, c.reader)
		}
		if !slices.ContainsFunc(r.Nodes, func(v loss.Value) bool { return v.Op == "quant_each" }) {
			t.Errorf("%s: the errors of channels are not listed", c.about)
		}
		if notes := strings.Join(r.Notes, "\n"); !strings.Contains(notes, c.note) || c.note == "" &&
			strings.Contains(notes, "round") {
			t.Errorf("%s: notes %q, want %q", c.about, notes, c.note)
		}
	}
}

// TestPlanChannelsText reads a plan that was written, and finds the same channels.
func TestPlanChannelsText(t *testing.T) {
	const list = `["fixed(6,4)", "none", "fixed(3,-1)"]`
	p := lowertest.Plan(t, "[[quantize.rule]]\nop = \"linear\"\nchannels = "+list)
	if text := plan.TOML(p.Quantize.Rules[0].Channels.List); text != list {
		t.Errorf("%s was written as %s", list, text)
	}
	if e := p.Quantize.Rules[0].Channels.Each; e.All.String() != "fixed(8,4)" || !slices.Equal(e.Bits, []int{6, 0, 3}) ||
		!slices.Equal(e.Drop, []int{0, 0, 5}) {
		t.Errorf("%s is %v", list, e)
	}
}

// TestPlanChannelsRefused wants one reason for each list that cannot be, and for one that does not fit its node.
func TestPlanChannelsRefused(t *testing.T) {
	for list, reason := range map[string]string{
		`["fixed(6)"]`:                                  "channels have fixed formats with fraction bits",
		`["mxint8"]`:                                    "channels have fixed formats with fraction bits",
		`["none", "none"]`:                              "no channel has codes",
		`[]`:                                            "no channel has codes",
		`["fixed(6,4)", "ufixed(6,4)"]`:                 "have a sign or none has",
		`["fixed(6,4)", "fixed(6,4,round=up)"]`:         "round and overflow alike",
		`["fixed(6,4,over=wrap)"]`:                      "saturate, which fixed(6,4,over=wrap) does not",
		`["fixed(60,50)", "fixed(60,-50)"]`:             "holds all channels",
		`["fixed(6,4)", "fixd(6,4)"]`:                   "fixd",
		`["fixed(6,4)"] # and` + "\n" + `skip = "none"`: "skip",
	} {
		_, err := plan.Parse("p.toml", []byte("[[quantize.rule]]\nchannels = "+list))
		if err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%s: %v, want %q", list, err, reason)
		}
	}
	for list, reason := range map[string]string{
		`["fixed(6,4)"]`: "list 4, in a rule for this node alone",
		`["fixed(6,40)", "fixed(6,-10)", "none", "none"]`: "bring the steps of the channels closer together",
	} {
		b := lowertest.New(t, 3)
		_, _, err := Run(context.Background(), b.Done(b.Linear("y", b.Input("x", 1, 6), 4, true)),
			lowertest.Plan(t, "[[quantize.rule]]\nname = \"y\"\nchannels = "+list), Calibration{}, Options{})

		if diag.CodeOf(err) != "L0407" || !strings.Contains(err.Error(), reason) {
			t.Errorf("%s for four channels: %v", list, err)
		}
	}
}

// TestChannelsOfInput: an input has the range of the channels that it is rounded to, and bits below their finest step,
// without samples and whatever their range; not where something else reads it.
func TestChannelsOfInput(t *testing.T) {
	for _, c := range []struct {
		format string
		bits   []int
		other  bool
		want   string
	}{
		{"fixed(7,2)", []int{7, 3, 4}, false, "fixed(16,11)"}, {"ufixed(18,14)", []int{4, 8, 6}, false, "ufixed(22,18)"},
		{"fixed(7,2)", []int{7, 3, 4}, true, "fixed(16,14)"},
	} {
		b := lowertest.New(t, 1)
		x := b.Input("x", 1, 3)
		a := &pointwise.QuantEachAttrs{Axis: 1, Format: c.format, Bits: c.bits, Drop: []int{0, 0, 2}}
		out := []*ir.Node{b.Linear("y", b.Add(pointwise.QuantEach, "q", a, x), 2, true)}
		if c.other {
			out = append(out, b.Linear("z", x, 2, true))
		}
		q, _ := mustQuantize(t, b.Done(out...), "", Calibration{})
		if got := q.Find("x").Type.Format.String(); got != c.want {
			t.Errorf("%s, another reader %v: %s, want %s", c.format, c.other, got, c.want)
		}
	}
}
