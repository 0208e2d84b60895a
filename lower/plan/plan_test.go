// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"errors"
	"strings"
	"testing"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
)

const fullPlan = `# a comment
[target]
part = "xc7z020clg400-1"
clock_mhz = 100

[quantize]
data = "fixed(6)"
weight = "fixed(4,round=floor)"
bias = "fixed(12,3)"
round = "away"
overflow = "sym"
calibrate = "percentile"

[[quantize.rule]]
op = "linear"
name = "enc.*.fc?"
data_in = "fixed(8,4)"

[[quantize.rule]]
regex = "^out$"
weight = "int(8)*[0]"
bias = "fixed(16,over=wrap)"
data_out = "fixed(10)"

[fold]
mode = "unroll"

[[fold.rule]]
name = "conv1"
in_lanes = 9
out_lanes = 4
style = "fold"
mem = "block"

[[input]]
name = "x"
format = "ufixed(8,8)"
range = [0, 1.0]
shape = [1, 64]

[[output]]
name = "y"
format = "fixed(16)"
`

func TestParsePlan(t *testing.T) {
	p, err := Parse("plan.toml", []byte(fullPlan))
	if err != nil {
		t.Fatal(err)
	}
	q := &p.Quantize
	for what, pair := range map[string][2]string{
		"data":         {q.Data.Pattern.String(), "fixed(6,round=away,over=sym)"},
		"weight":       {q.Weight.Pattern.String(), "fixed(4,round=floor,over=sym)"},
		"bias":         {q.Bias.Pattern.String(), "fixed(12,3,round=away,over=sym)"},
		"bias from":    {q.Bias.From, `plan.toml:9 [quantize] bias = "fixed(12,3)"`},
		"rule 0":       {q.Rules[0].DataIn.Pattern.String(), "fixed(8,4,round=away,over=sym)"},
		"rule 0 from":  {q.Rules[0].DataIn.From, `plan.toml:17 [[quantize.rule]] op = "linear" name = "enc.*.fc?"`},
		"rule 1":       {q.Rules[1].Weight.Pattern.String(), "int(8,round=away,over=sym)*[0]"},
		"rule 1 bias":  {q.Rules[1].Bias.Pattern.String(), "fixed(16,round=away,over=wrap)"},
		"rule 1 from":  {q.Rules[1].DataOut.From, `plan.toml:23 [[quantize.rule]] regex = "^out$"`},
		"calibrate":    {q.Calibrate.String(), Percentile.String()},
		"device":       {p.Target.FPGA.Name, "xc7z020"},
		"mode":         {p.Fold.Mode + " " + p.Fold.From, `unroll plan.toml:26 [fold] mode = "unroll"`},
		"fold from":    {p.Fold.Rules[0].From, `plan.toml:28 [[fold.rule]] name = "conv1"`},
		"input":        {p.Inputs[0].Format.Pattern.String(), "ufixed(8,8,round=away,over=sym)"},
		"input from":   {p.Inputs[0].From, `plan.toml:35 [[input]] name = "x"`},
		"output":       {p.Outputs[0].Format.Pattern.String(), "fixed(16,round=away,over=sym)"},
		"default bias": {Default().Quantize.Bias.Pattern.String(), "fixed(16)"},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s: %s, want %s", what, pair[0], pair[1])
		}
	}
	f := p.Fold.Rules[0]
	if f.InLanes != 9 || f.OutLanes != 4 || f.Style != ir.StyleFold || f.Mem != "block" {
		t.Errorf("fold rule: %+v", f)
	}
	if r := p.Inputs[0].Range; *r != [2]float64{0, 1} || p.Shapes()["x"][1] != 64 {
		t.Errorf("input: %+v", p.Inputs[0])
	}
	if p.Target.ClockMHz != 100 {
		t.Errorf("%+v", p.Target)
	}
	r := q.Rules[0]
	names := map[string]bool{"enc.0.fc1": true, "enc.a.b.fcx": true, "enc.0.fc": false, "xenc.0.fc1": false}
	for name, want := range names {
		if got := r.glob.MatchString(name); got != want {
			t.Errorf("%s matches: %v", name, got)
		}
	}
}

// TestBalancePlan keeps what only the balance mode uses.
func TestBalancePlan(t *testing.T) {
	keys := "[fold]\nmode = \"balance\"\nfps = 1e5\nmax_lut = 50000\nmax_ff = 700\nmax_dsp = 40\nmax_bram = 6"
	p, err := Parse("p", []byte(keys))
	if err != nil {
		t.Fatal(err)
	}
	if f := p.Fold; f.FPS != 1e5 || f.MaxLUT != 50000 || f.MaxFF != 700 || f.MaxDSP != 40 || f.MaxBRAM != 6 {
		t.Errorf("%+v", p.Fold)
	}
}

// TestEmptyPlan is the default plan, under a name.
func TestEmptyPlan(t *testing.T) {
	p, err := Parse("p", nil)
	if err != nil {
		t.Fatal(err)
	}
	d := Default()
	if p.Quantize.Data != d.Quantize.Data || p.Fold.Mode != "lean" || p.Target != d.Target || d.Target.FPGA.Name == "" {
		t.Errorf("%+v", p)
	}
	if f, ok := p.Quantize.Data.Pattern.Open(); !ok || f != (format.Fixed{W: 8, Signed: true}) {
		t.Errorf("data: %+v", p.Quantize.Data)
	}
}

func TestPlanErrors(t *testing.T) {
	for _, c := range []struct{ text, code, pos, part string }{
		{"[quantize]\ndaat = \"fixed(8)\"", "L0401", "p:2", `did you mean "data"?`},
		{"[quantise]\ndata = \"fixed(8)\"", "L0401", "p:1", `did you mean "quantize"?`},
		{"[[quantize.rule]]\nskip = true\n[[quantize.rule]]\nnmae = \"x\"", "L0401", "p:4", `did you mean "name"?`},
		{"[target]\nzzzzzzz = 1", "L0401", "p:2", "part, clock_mhz"},
		{"[quantize]\ndata = 8", "L0401", "p:2", "quantize.data"},
		{"[quantize\n", "L0401", "p:2", "end table name"},
		{"[quantize]\ndata = \"fixed(8)\"\ndata = \"fixed(9)\"", "L0401", "p:3", "already"},
		{"[[quantize.rule]]\nname = \"a\"\nweight = \"fixd(8,4)\"", "L0502", "p:3", "fixed"},
		{"[[quantize.rule]]\nname = \"a\"\nweight = \"fixed(80,4)\"", "L0503", "p:3", "1..64"},
		{"[[quantize.rule]]\nop = \"linar\"\nskip = true", "L0402", "p:2", `did you mean "linear"?`},
		{"[[quantize.rule]]\nop = \"convolution\"\nskip = true", "L0402", "p:2", "lathe list ops"},
		{"[fold.rule]\nname = \"a\"", "L0401", "p:1", "write [[fold.rule]]"},
		{"[[quantize.rule]]\nname = \"a\"", "L0402", "p:1", "sets nothing"},
		{"[[quantize.rule]]\nregex = \"(\"\nskip = true", "L0402", "p:2", "missing closing"},
		{"[quantize]\nround = \"evn\"", "L0402", "p:2", `did you mean "even"?`},
		{"[quantize]\noverflow = \"clip\"", "L0402", "p:2", "use saturate, sym or wrap"},
		{"[quantize]\ncalibrate = \"kl\"", "L0402", "p:2", "mse, minmax, percentile"},
		{"[quantize]\nround_weights = \"gptp\"", "L0402", "p:2", `did you mean "gptq"?`},
		{"[quantize]\nsmooth = 1.5", "L0402", "p:2", "0.5 shares ranges evenly"},
		{"[fold]\nmode = \"unrol\"", "L0402", "p:2", `did you mean "unroll"?`},
		{"[[fold.rule]]\nname = \"a\"\nin_lanes = 0", "L0402", "p:3", "in_lanes = 0"},
		{"[[fold.rule]]\nname = \"a\"", "L0402", "p:1", "sets nothing"},
		{"[fold]\nmode = \"balance\"\nfps = -1", "L0402", "p:3", "fps"},
		{"[fold]\nfps = 1e5", "L0416", "p:2", `fps: only mode = "balance" uses it`},
		{"[fold]\nmode = \"unroll\"\nmax_lut = 9", "L0416", "p:3", "max_lut"},
		{"[target]\npart = \"xczu3eg\"\n[memory]\nram = \"ultra\"", "L0402", "p:4", `xczu3eg has no UltraRAM`},
		{"[target]\npart = \"xczu3eg\"\n[[fold.rule]]\nname = \"a\"\nline_mem = \"ultra\"", "L0402", "p:5",
			`line_mem = "ultra": xczu3eg has no UltraRAM`},
		{"[target]\npart = \"xc7z020\"\n[fold]\ndsp = \"chain\"", "L0402", "p:4", "xc7z020 has no DSP48E2"},
		{"[memory]\nram = \"ultr\"", "L0402", "p:2", `did you mean "ultra"?`},
		{"[fold]\nimages = 2", "L0416", "p:2", `images: only layers = "loop" uses it`},
		{"[fold]\nlayers = \"loop\"\nimages = 33", "L0402", "p:3", "outside 1..32"},
		{"[sequence]\ndecode = true\n[fold]\nlayers = \"loop\"\nimages = 2", "L0402", "p:5", "one sequence at a time"},
		{"[fold]\nmax_ff = 9", "L0416", "p:2", "max_ff"},
		{"[fold]\nmode = \"balance\"\nmax_ff = 0", "L0402", "p:3", "max_ff = 0 is not positive"},
		{"[fold]\nmax_dsp = 9", "L0416", "p:2", "max_dsp"},
		{"[fold]\nmax_bram = 9", "L0416", "p:2", "max_bram"},
		{"[target]\npart = \"xcku6p-ffvb676-2-e\"", "L0413", "p:2", "xcku5p"},
		{"[target]\nclock_mhz = 0", "L0402", "p:2", "clock_mhz"},
		{"[target]\nstream_clock_mhz = 3e3", "L0402", "p:2", "stream_clock_mhz = 3000 lies outside 1..2000"},
		{"[target]\nstream_clock_mhz = 90\n[sequence]\ndecode = true", "L0402", "p:2", "a decoder has one clock"},
		{"[[input]]\nrange = [0.0, 1.0]", "L0402", "p:1", "name is missing"},
		{"[[input]]\nname = \"x\"\nrange = [1.0, 1.0]", "L0402", "p:3", "low < high"},
		{"[[input]]\nname = \"x\"\nrange = [1.0]", "L0402", "p:3", "low < high"},
		{"[[input]]\nname = \"x\"\nshape = [1, 0]", "L0402", "p:3", "not positive"},
		{"[[output]]\nname = \"x\"\n[[output]]\nname = \"x\"", "L0402", "p:3", "twice"},
	} {
		_, err := Parse("p", []byte(c.text))
		var e *diag.Error
		if !errors.As(err, &e) {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		if string(e.Code) != c.code || e.Pos != c.pos || !strings.Contains(e.Error(), c.part) {
			t.Errorf("%q:\n%v\nwant %s at %s with %q", c.text, e, c.code, c.pos, c.part)
		}
	}
}

// TestAllErrors reports every mistake of a plan at once.
func TestAllErrors(t *testing.T) {
	_, err := Parse("p", []byte("[quantize]\ndata = \"x\"\nround = \"y\"\n[[quantize.rule]]\n[[fold.rule]]\n"))
	var l diag.List
	if !errors.As(err, &l) || len(l) != 4 {
		t.Errorf("%v", err)
	}
}

// TestLinesInStrings passes over text in multi-line strings, which may look like keys.
func TestLinesInStrings(t *testing.T) {
	_, err := Parse("p", []byte("[quantize]\ndata = \"\"\"\nround = 3\n\"\"\"\nround = \"y\"\n"))
	if err == nil || !strings.Contains(err.Error(), "p:5: L0402") {
		t.Errorf("%v", err)
	}
}

func FuzzParsePlan(f *testing.F) {
	f.Add([]byte(fullPlan))
	f.Add([]byte("input = [{name = \"x\", range = [1, 2]}]\nquantize.rule = [{name=\"a\", skip=true}]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := Parse("p", data)
		if (p == nil) == (err == nil) {
			t.Errorf("plan %v, error %v", p, err)
		}
		if err != nil && diag.CodeOf(err) == "" {
			t.Errorf("error without a code: %v", err)
		}
	})
}

// TestPlanFollowsPart: a part that is named says what stands in front of carries, and whose DSPs products fit.
func TestPlanFollowsPart(t *testing.T) {
	for _, c := range []struct {
		text, part string
		luts       int
	}{
		{"", "", 6},
		{"[target]\npart = \"ecp5-85k\"", "ecp5-85k", 4},
		{"[target]\npart = \"ecp5-85k\"\n[unroll]\nfamily = \"lut6\"", "ecp5-85k", 6},
		{"[target]\npart = \"xc7a35t\"", "xc7a35t", 6},
		{"[unroll]\nfamily = \"lut4\"", "", 4},
	} {
		p, err := Parse("p", []byte(c.text))
		if err != nil {
			t.Fatal(err)
		}
		part := ""
		if p.Fold.Part != nil {
			part = p.Fold.Part.Name
		}
		if part != c.part || p.Fold.Sums.LUT != c.luts {
			t.Errorf("%s: part %q, LUTs of %d inputs", c.text, part, p.Fold.Sums.LUT)
		}
	}
	text := "[target]\npart = \"ecp5-85k\"\n[fold]\ndsp = \"chain\""
	if _, err := Parse("p", []byte(text)); diag.CodeOf(err) != "L0402" {
		t.Errorf("a chain on ECP5: %v", err)
	}
}

// TestClockOfPart: a plan that names a part and no clock aims at what the part's family can hope for, and one that
// names both at what it says, in whatever order.
func TestClockOfPart(t *testing.T) {
	for text, want := range map[string]float64{
		"": 250, "[target]\npart = \"ecp5-85k\"\n": 100, "[target]\npart = \"ice40-up5k\"\n": 24,
		"[target]\npart = \"xc7a35tcpg236-1\"\n": 250, "[target]\nclock_mhz = 62.5\npart = \"ecp5-85k\"\n": 62.5,
	} {
		p, err := Parse("p.toml", []byte(text))
		if err != nil || p.Target.ClockMHz != want {
			t.Errorf("%q aims at %v MHz, want %v (%v)", text, p.Target.ClockMHz, want, err)
		}
	}
}
