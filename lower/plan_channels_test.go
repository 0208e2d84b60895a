// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"context"
	"slices"
	"strings"
	"testing"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/pointwise"
	"lathe/lower/lowertest"
)

// TestPlanChannels gives channels of results formats of their own: unrolled sums round to them, behind a relu too, and
// all else keeps the formats of the plan.
func TestPlanChannels(t *testing.T) {
	net := func(b *lowertest.Builder) *ir.Node {
		y := b.Add(pointwise.Relu, "relu", nil, b.Linear("y", b.Input("x", 1, 6), 4, true))
		return b.Linear("z", y, 3, true)
	}
	const rule = "[[quantize.rule]]\nname = %\nchannels = [\"ufixed(6,4)\", \"none\", \"ufixed(3,1)\", \"ufixed(2,2)\"]\n"
	const unroll = "[fold]\nmode = \"unroll\"\n"
	for _, c := range []struct {
		about, plan string
		units       []string
	}{
		{"behind relu", unroll + strings.Replace(rule, "%", `"relu"`, 1), []string{"linear_each", "linear"}},
		{"of the sum", unroll + strings.Replace(rule, "%", `"y"`, 1), []string{"linear_each", "linear"}},
		{"folded", strings.Replace(rule, "%", `"relu"`, 1), []string{"linear", "quant_each", "linear"}},
		{"of an input", unroll + strings.NewReplacer("%", `"x"`, `"ufixed(2,2)"`, `"ufixed(2,2)", "none", "ufixed(1,0)"`).
			Replace(rule), []string{"quant_each", "linear", "linear"}},
	} {
		if units := absorbed(t, net, c.plan); !slices.Equal(units, c.units) {
			t.Errorf("%s: units %v, want %v", c.about, units, c.units)
		}
	}
	b := lowertest.New(t, 3)
	g, _, err := Quantize(context.Background(), b.Done(net(b)), mustPlan(t, strings.Replace(rule, "%", `"relu"`, 1)),
		Calibration{})
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

// TestPlanChannelsText reads a plan that was written, and finds the same channels.
func TestPlanChannelsText(t *testing.T) {
	const list = `["fixed(6,4)", "none", "fixed(3,-1)"]`
	p := mustPlan(t, "[[quantize.rule]]\nop = \"linear\"\nchannels = "+list)
	if text := tomlText(p.Quantize.Rules[0].Channels.List); text != list {
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
		_, err := ParsePlan("p.toml", []byte("[[quantize.rule]]\nchannels = "+list))
		if err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%s: %v, want %q", list, err, reason)
		}
	}
	b := lowertest.New(t, 3)
	_, _, err := Quantize(context.Background(), b.Done(b.Linear("y", b.Input("x", 1, 6), 4, true)),
		mustPlan(t, "[[quantize.rule]]\nname = \"y\"\nchannels = [\"fixed(6,4)\"]"), Calibration{})
	const misfit = "1 formats of channels do not fit the last axis of 1x4"
	if diag.CodeOf(err) != "L0407" || !strings.Contains(err.Error(), misfit) {
		t.Errorf("one format for four channels: %v", err)
	}
}
