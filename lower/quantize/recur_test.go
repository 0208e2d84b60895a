// SPDX-License-Identifier: Apache-2.0

package quantize

import (
	"strings"
	"testing"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/recur"
	"lathe/lower/lowertest"
	"lathe/lower/plan"
)

// recurFormats are layers under plans: the formats of rows, weights, results, gates and state, or the cause of an
// error.
var recurFormats = []struct {
	name, op, plan, want, cause string
}{
	{"defaults", "lstm", "", "fixed(16,15) fixed(8,7) fixed(8,8) fixed(12,8) fixed(16,11)", ""},
	{"the state of a GRU", "gru", "", "fixed(16,15) fixed(8,7) fixed(8,7) fixed(12,8) fixed(16,15)", ""},
	{"no state beside the results", "rnn", "", "fixed(16,15) fixed(8,7) fixed(8,7) fixed(12,8)", ""},
	{"wide data", "lstm", "[quantize]\ndata = \"fixed(12)\"",
		"fixed(16,15) fixed(8,7) fixed(12,12) fixed(16,12) fixed(24,19)", ""},
	{"rules", "lstm", "[[quantize.rule]]\nop = \"lstm\"\ngate = \"fixed(10)\"\ncell = \"fixed(20,14)\"\nweight = " +
		"\"fixed(6)\"\ndata_out = \"fixed(9,8)\"", "fixed(16,15) fixed(6,5) fixed(9,8) fixed(10,6) fixed(20,14)", ""},
	{"what is within rounds as ever", "gru", "[quantize]\nround = \"floor\"\noverflow = \"wrap\"",
		"fixed(16,15,round=floor,over=wrap) fixed(8,7,round=floor,over=wrap) fixed(8,7,round=floor,over=wrap) " +
			"fixed(12,8) fixed(16,15)", ""},
	{"a real scale", "lstm", "[quantize]\ndata = \"int(8)*0.0101\"",
		"fixed(16,15) fixed(8,7) fixed(16,16) fixed(16,12) fixed(24,19)", ""},
	{"blocks", "lstm", "[quantize]\ndata = \"mxint8\"\nweight = \"mxint8\"",
		"fixed(16,15) fixed(16,15) fixed(16,16) fixed(16,12) fixed(24,19)", ""},
	{"cells", "cells", "", "fixed(16,15) fixed(8,7) fixed(16,11) fixed(12,8) fixed(16,11) fixed(8,7)", ""},
	{"cells of wide data", "cells", "[quantize]\ndata = \"fixed(12)\"",
		"fixed(16,15) fixed(8,7) fixed(24,19) fixed(16,12) fixed(24,19) fixed(12,11)", ""},
	{"cells of blocks", "cells", "[quantize]\ndata = \"mxint8\"\nweight = \"mxint8\"",
		"fixed(16,15) fixed(16,15) fixed(24,19) fixed(16,12) fixed(24,19) fixed(16,15)", ""},
	{"a coarse state", "cells", "[[quantize.rule]]\nop = \"lstm\"\ncell = \"fixed(8,4)\"", "",
		"rows of h in fixed(8,7) and c in fixed(8,4): fixed(8,4), of both, must be the latter, and hold the former"},
	{"a state that begins high", "high", "", "fixed(16,15) fixed(8,7) fixed(8,5) fixed(12,8) fixed(16,12)", ""},
	{"gates without a sign", "lstm", "[[quantize.rule]]\nop = \"lstm\"\ngate = \"ufixed(8,8)\"", "",
		"gates of lstm: fixed(W,F) of 2 to 16 bits, which rounds to even and saturates, not ufixed(8,8)"},
	{"a wide state", "gru", "[[quantize.rule]]\nop = \"gru\"\ncell = \"fixed(33)\"", "",
		"the state of gru: fixed(W,F) of 2 to 32 bits, which rounds to even and saturates, not fixed(33,32)"},
	{"wide sums", "lstm", "[quantize]\ndata = \"fixed(24)\"\nweight = \"fixed(24)\"", "",
		"bits; at most 60 are possible"},
}

func TestQuantizeRecurrent(t *testing.T) {
	for _, c := range recurFormats {
		t.Run(c.name, func(t *testing.T) {
			o, rows := map[string]*ir.Op{"lstm": recur.LSTM, "cells": recur.LSTM, "gru": recur.GRU, "high": recur.GRU,
				"rnn": recur.RNN}[c.op], 2
			rows *= map[string]int{"lstm": 4, "gru": 3, "rnn": 1}[o.Name]
			b := lowertest.New(t, 1)
			x := b.Linear("x_rows", b.Input("x", 3, 2), rows, false)
			x = b.Add(pointwise.Clip, "near", &pointwise.ClipAttrs{Min: -0.9, Max: 0.9}, x)
			args := []*ir.Node{x, b.Random(0.9, rows, 2)}
			if c.op == "high" {
				args = append(args, b.Random(0.9, 2), b.Const([]int{2}, 0.5, -5))
			}
			g := b.Done(b.Add(o, "n", &recur.Attrs{Cells: c.op == "cells"}, args...))
			p, err := plan.Parse("plan.toml", []byte(c.plan))
			if err != nil {
				t.Fatal(err)
			}
			q, r, err := Run(t.Context(), g, p, samples(g, -1, 1, 30), Options{})
			if c.cause != "" {
				if diag.CodeOf(err) != "L0407" || !strings.Contains(err.Error(), c.cause) {
					t.Fatalf("want L0407 %q, got %v", c.cause, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			n := q.Find("n")
			a := n.Attrs.(*recur.Attrs)
			got := strings.TrimSpace(strings.Join([]string{n.Args[0].Type.Format.String(), n.Args[1].Type.Format.String(),
				n.Type.Format.String(), a.Gate, a.Cell, a.Hidden}, " "))
			if got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
			slots := 0
			for _, s := range r.Slots {
				if s.Node == "n" && (s.Slot == "gate" && s.Format == a.Gate || s.Slot == "cell" && s.Format == a.Cell) {
					slots++
				}
			}
			if want := 1 + len(strings.Fields(a.Cell)); slots != want {
				t.Errorf("%d formats within the layer are explained, want %d", slots, want)
			}
		})
	}
}
