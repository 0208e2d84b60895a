// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"lathe/internal/tools"
	"lathe/ir/op/window"
	"lathe/lower/lowertest"
	"lathe/lower/pass"
	"lathe/lower/quantize"
	"lathe/lower/schedule"
)

// linesAs schedules two convolutions and a pool over images under a plan, and completes the plan.
func linesAs(t *testing.T, plan string) (r *schedule.Report, text string, err error) {
	t.Helper()
	p := lowertest.Plan(t, plan)
	b, w := lowertest.New(t, 3), lowertest.Window(2, 2, 2, 0)
	x := b.Add(window.MaxPool, "pool", &w, b.Conv("conv1", b.Input("x", 1, 16, 32, 32), 16, 3, 1, 1, 1, true))
	q, qr, err := quantize.Run(context.Background(), b.Done(b.Conv("conv2", x, 4, 3, 1, 1, 1, true)), p,
		quantize.Calibration{}, quantize.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, r, err = schedule.Run(context.Background(), q, p,
		schedule.Options{Options: pass.Options{Verify: true}}); err != nil {
		return nil, "", err
	}
	return r, PlanText(p, "m.onnx", q, qr, r), nil
}

// TestBalanceLines moves line buffers to memories that keep the bounds; what the plan says of one stays.
func TestBalanceLines(t *testing.T) {
	const ultra, plain = "xcku5p-ffvb676-2-e", "xc7a100tcsg324-1"
	for _, c := range []struct{ name, part, plan, want string }{
		{"few block RAMs and LUTs", ultra, "max_bram = 1\nmax_lut = 1300", "line buffer of conv1 in UltraRAM"},
		{"few LUTs", plain, "max_lut = 1020", "line buffer of pool in block RAM"},
		{"few block RAMs", plain, "max_bram = 1", "line buffer of conv1 in LUTs"},
		{"a rule", ultra, "max_bram = 1\n[[fold.rule]]\nname = \"conv1\"\nline_mem = \"block\"",
			"weights of conv1 in UltraRAM, loaded after reset"},
	}[:tools.Sample(2, 4)] {
		r, text, err := linesAs(t, fmt.Sprintf("[target]\npart = %q\n[fold]\nmode = \"balance\"\nfps = 100\nmax_dsp = 4\n%s",
			c.part, c.plan))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var got []string
		for _, s := range r.Balance.Stores {
			got = append(got, s.Holds()+" of "+s.Node+" "+s.Place())
		}
		if strings.Join(got, ", ") != c.want || len(schedule.Beyond(r.Cost(), r.Balance.Budget)) > 0 {
			t.Errorf("%s: %s, want %s; %+v", c.name, got, c.want, r.Balance.Cost)
		}
		at := strings.Index(text, "[fold]") // behind rules of other tables
		again, _, err := linesAs(t, text[:at]+asRules.ReplaceAllString(text[at:], "$1"))
		if err != nil || len(again.Balance.Stores) > 0 || again.Cost() != r.Cost() {
			t.Errorf("%s: by the rules that the plan has as comments: %v, %+v, not %+v", c.name, err, again, r.Cost())
		}
	}
}
