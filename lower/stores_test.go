// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"lathe/internal/diag"
	"lathe/lower/lowertest"
	"lathe/lower/pass"
	"lathe/lower/quantize"
	"lathe/lower/schedule"
)

// storedUnder schedules three layers, whose weights are 48, 48 and 8 Kbit, slowly and with few DSPs unless the plan
// asks for a rate.
func storedUnder(t *testing.T, part, plan string) (r *schedule.Report, text string, err error) {
	t.Helper()
	dsp := 13
	if !strings.HasPrefix(plan, "fps") {
		plan, dsp = "fps = 1000\n"+plan, 4
	}
	plan = fmt.Sprintf("[target]\npart = %q\n[fold]\nmode = \"balance\"\nmax_dsp = %d\n%s", part, dsp, plan)
	return storedAs(t, plan)
}

// storedAs schedules the layers under a plan, and completes the plan.
func storedAs(t *testing.T, plan string) (r *schedule.Report, text string, err error) {
	t.Helper()
	p := lowertest.Plan(t, plan)
	b := lowertest.New(t, 3)
	fc1 := b.Linear("fc1", b.Input("x", 1, 64), 96, true)
	q, qr, err := quantize.Run(context.Background(), b.Done(b.Linear("fc3", b.Linear("fc2", fc1, 64, true), 16, true)),
		p, quantize.Calibration{}, quantize.Options{})

	if err != nil {
		t.Fatal(err)
	}
	if _, r, err = schedule.Run(context.Background(), q, p,
		schedule.Options{Options: pass.Options{Verify: true}}); err != nil {
		return nil, "", err
	}
	return r, PlanText(p, "m.onnx", q, qr, r), nil
}

// asRules finds the comments of a completed plan that are rules of nodes.
var asRules = regexp.MustCompile(
	`(?m)^# (\[\[fold\.rule\]\]|(?:name = "(?:fc|conv|pool)|in_lanes|out_lanes|(?:line_)?mem|weights = "hold|` +
		`ram = "ultra).*$)`)

// TestBalanceStores moves weights to memories that keep the bounds, and no more of them than that takes; what the plan
// says of a memory stays.
func TestBalanceStores(t *testing.T) {
	const ultra, plain = "xcku5p-ffvb676-2-e", "xc7a100tcsg324-1"
	for _, c := range []struct{ name, part, plan, want string }{
		{"all that synthesis does", ultra, "", ""},
		{"few block RAMs", ultra, "max_bram = 2", "fc1 ultra"},
		{"one block RAM", ultra, "max_bram = 1", "fc1 ultra, fc2 ultra"},
		{"shallow enough for LUTs", plain, "fps = 3e5\nmax_bram = 1", "fc1 distributed, fc2 distributed"},
		{"few LUTs", plain, "max_lut = 560", "fc3 block"},
		{"a rule", ultra, "max_bram = 2\n[[fold.rule]]\nname = \"fc1\"\nmem = \"block\"", "fc2 ultra"},
		{"loaded anyway", ultra, "max_bram = 2\n[memory]\nweights = \"hold\"", "fc1 ultra, fc3 distributed"},
	} {
		r, text, err := storedUnder(t, c.part, c.plan)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var got []string
		for _, s := range r.Balance.Stores {
			got = append(got, s.Node+" "+s.Memory)
		}
		if strings.Join(got, ", ") != c.want || len(schedule.Beyond(r.Cost(), r.Balance.Budget)) > 0 {
			t.Errorf("%s: %v, want %s; %+v", c.name, got, c.want, r.Balance.Cost)
		}
		again, _, err := storedAs(t, asRules.ReplaceAllString(text, "$1"))
		if err != nil || len(again.Balance.Stores) > 0 || again.Cost() != r.Cost() {
			t.Errorf("%s: by the rules that the plan has as comments: %v, %+v, not %+v", c.name, err, again, r.Cost())
		}
	}
}

// TestBalanceNoStores refuses what UltraRAM would help where there is none, or where the plan wants ROMs.
func TestBalanceNoStores(t *testing.T) {
	const bound = "max_bram = 1\n"
	_, _, err := storedUnder(t, "xc7a100tcsg324-1", bound)
	wantError(t, err, "L0456", "block RAM more than max_bram = 1")
	_, _, err = storedUnder(t, "xcku5p-ffvb676-2-e", bound+"[memory]\nweights = \"rom\"")
	wantError(t, err, "L0456", "block RAM more than max_bram = 1")
}

func wantError(t *testing.T, err error, code diag.Code, parts ...string) {
	t.Helper()
	if diag.CodeOf(err) != code {
		t.Errorf("%v, want %s", err, code)
		return
	}
	for _, p := range parts {
		if !strings.Contains(err.Error(), p) {
			t.Errorf("%v: no %q", err, p)
		}
	}
}
