// SPDX-License-Identifier: Apache-2.0

package space

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	frontend "lathe/frontend/source"
	"lathe/internal/choose"
	"lathe/internal/diag"
	"lathe/internal/driver"
	"lathe/lower/plan"
	"lathe/search"
)

// study is that of jets-mlp on a few samples.
func study(t *testing.T) *choose.Meter {
	t.Helper()
	path := func(file string) string { return filepath.Join("..", "..", "..", "examples", "jets-mlp", file) }
	s := driver.Source{Model: path("model.onnx"), Calibrate: path("calib.npz")}
	g, err := s.Import()
	if err != nil {
		t.Fatal(err)
	}
	subject, err := s.Subject(context.Background(), g, driver.Data{Inputs: path("inputs.npz"), Labels: path("labels.npy"),
		Most: 30})
	if err != nil {
		t.Fatal(err)
	}
	c, err := choose.NewMeter(context.Background(), subject)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestPattern reads formats with ranges, and fills them in.
func TestPattern(t *testing.T) {
	for _, c := range []struct {
		text  string
		words string
		low   string
	}{
		{"fixed(4..16:2, 0..8)", "W F", "fixed(4,0)"},
		{"fixed(8)", "", "fixed(8)"},
		{"mxint(4..6,16)", "W", "mxint(4,16)"},
		{"float(2..4,1..5)", "e m", "float(2,1)"},
		{"fixed(6,-2..2)", "F", "fixed(6,-2)"},
	} {
		p, err := readPattern(c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		var words []string
		var low []float64
		for _, r := range p.ranges {
			words, low = append(words, r.word), append(low, float64(r.from))
		}
		if got := strings.Join(words, " "); got != c.words || p.fill(low) != c.low {
			t.Errorf("%s: %q, %s", c.text, got, p.fill(low))
		}
	}
	for _, text := range []string{"fixed(8..4)", "fixed(4..8:0)", "fixd(4..6)", "fixed(4..99)"} {
		if _, err := readPattern(text); err == nil {
			t.Errorf("%s is read", text)
		}
	}
}

const text = `[study]
objectives = ["accuracy max", "lut min"]
[[quantize]]
op = "linear"
slot = ["weight"]
format = ["fixed(3..8)", "fixed(6, 2..4)", "mxint8", "binary*[0]"]
[[quantize]]
format = ["fixed(4..8:2)"]
slot = ["data_out"]
tie = "all"
[constraint]
lut = "<= 0.5 * device"
accuracy = ">= 0.2"
`

// TestRead: names, conditions and ties of the parameters; the plan of a configuration has what it says.
func TestRead(t *testing.T) {
	c := study(t)
	s, err := Read("s.toml", []byte(text), c)
	if err != nil {
		t.Fatal(err)
	}
	linear := 0
	for _, l := range c.Layers {
		if l.Weights > 0 {
			linear++
		}
	}
	if want := 3*linear + 1; len(s.Parameters) != want {
		t.Fatalf("%d parameters, want %d", len(s.Parameters), want)
	}
	first := s.Parameters[0].Name
	node, _ := strings.CutSuffix(first, ".weight.format")
	if p := s.Parameters[2]; p.Name != node+".weight.fixed-2.F" || p.When.Name != first || p.When.Value != 1 {
		t.Errorf("%+v", p)
	}
	if p := s.Parameters[len(s.Parameters)-1]; p.Name != "*.data_out.fixed.W" || p.Dist.Count() != 3 {
		t.Errorf("%+v", p)
	}
	var params []search.Param
	add := func(name string, v float64) { params = append(params, search.Param{Name: name, Value: v}) }
	for _, l := range c.Layers {
		if l.Weights > 0 {
			add(l.Node+".weight.format", 1)
			add(l.Node+".weight.fixed-2.F", 3)
		}
	}
	add("*.data_out.fixed.W", 6)
	p, err := s.Plan(c, params)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range p.Quantize.Rules {
		if r.Weight != nil && r.Weight.Pattern.String() != "fixed(6,3)" {
			t.Errorf("weights of %s are %s", r.Name, r.Weight.Pattern)
		}
		if w := r.DataOut; w != nil && !slices.Contains([]string{"fixed(6)", "ufixed(6)"}, w.Pattern.String()) {
			t.Errorf("values of %s are %s", r.Name, w.Pattern)
		}
	}
}

// TestTry: a trial is worth what its plan is worth; one that breaks a limit of hardware is not measured.
func TestTry(t *testing.T) {
	c := study(t)
	s, err := Read("s.toml", []byte(text), c)
	if err != nil {
		t.Fatal(err)
	}
	var params []search.Param
	for _, p := range s.Parameters {
		params = append(params, search.Param{Name: p.Name, Dist: p.Dist, Value: p.Dist.High})
		if strings.HasSuffix(p.Name, ".format") {
			params[len(params)-1].Value = 0
		}
	}
	o, err := s.Try(t.Context(), c, params, nil)
	if err != nil || o.State != search.Complete {
		t.Fatalf("%+v, %v", o, err)
	}
	plan, err := s.Plan(c, params)
	if err != nil {
		t.Fatal(err)
	}
	point, _, err := c.Measure(t.Context(), plan, true)
	if err != nil || o.Values[0] != *point.Accuracy || o.Values[1] != float64(point.Cost.LUT) {
		t.Errorf("%v, want %+v, %v", o.Values, point, err)
	}
	tight, err := Read("s.toml", []byte(strings.Replace(text, "0.5 * device", "1", 1)), c)
	if err != nil {
		t.Fatal(err)
	}
	o, err = tight.Try(t.Context(), c, params, nil)
	if err != nil || o.State != search.Pruned || o.Values != nil {
		t.Fatalf("%+v, %v", o, err)
	}
	var trial search.Trial
	for _, a := range o.Attrs {
		if trial.Set(a); a.Key == "accuracy" {
			t.Error("the accuracy was measured")
		}
	}
	if list := trial.Constraints(); len(list) != 1 || list[0] != float64(point.Cost.LUT)-1 {
		t.Errorf("limits broken by %v, LUTs are %d", list, point.Cost.LUT)
	}
}

// TestRefused: mistakes are told with their lines.
func TestRefused(t *testing.T) {
	c := study(t)
	for _, r := range []struct {
		old, new, want string
		code           diag.Code
	}{
		{`"lut min"`, `"lut min", "lut"`, "s.toml:2: L1101: two objectives are lut", diag.SpaceText},
		{`"lut min"`, `"cycles", "ii"`, "s.toml:2: L1101: cycles and ii are two names for one objective", diag.SpaceText},
		{`"lut min"`, `"lut low"`, `s.toml:2: L1101: unknown direction "low"`, diag.SpaceText},
		{`op = "linear"`, `op = "linaer"`, `s.toml:3: L1101: unknown op "linaer"`, diag.SpaceText},
		{`["weight"]`, `["weights"]`, `s.toml:5: L1101: unknown slot "weights"`, diag.SpaceText},
		{`tie = "all"`, `tie = "some"`, `s.toml:10: L1101: unknown tie "some"`, diag.SpaceText},
		{`0.5 * device`, `half`, `s.toml:12: L1101: limit lut = "<= half": write`, diag.SpaceText},
		{`accuracy = ">= 0.2"`, `accuracy = "<= 0.5 * device"`, "a device has no accuracy", diag.SpaceText},
		{`"mxint8"`, `"mxint99"`, "s.toml:6: L05", diag.UnknownFormat},
		{`"mxint8"`, `"fixed(3..8)"`, `format "fixed(3..8)" stands twice`, diag.SpaceText},
		{`objectives`, `objective`, `s.toml:2: L1101: unknown key "objective"`, diag.SpaceText},
		{`[study]`, `[study`, "s.toml:", diag.SpaceText},
		{`[study]`, "[prune]\nsparsity = \"0.5\"\n[study]", "s.toml:1: L1101: trials that are pruned or trained need labels",
			diag.SpaceText},
	} {
		_, err := Read("s.toml", []byte(strings.Replace(text, r.old, r.new, 1)), c)
		if diag.CodeOf(err) != r.code || !strings.Contains(err.Error(), r.want) {
			t.Errorf("%s: %v", r.new, err)
		}
	}
}

// TestPresets: each search of each preset has a space that is read for a model, of more than one configuration, and its
// first trial is no failure.
func TestPresets(t *testing.T) {
	c := study(t)
	path := filepath.Join("..", "..", "..", "examples", "jets-mlp")
	source := driver.Source{Model: filepath.Join(path, "model.onnx"), Calibrate: filepath.Join(path, "calib.npz")}
	g, err := source.Import()
	if err != nil {
		t.Fatal(err)
	}
	pruned := 0
	c.Train = func(ctx context.Context, p *plan.Plan) (*driver.Quantized, error) { // training has tests of its own
		if r := p.Prune; r.Given && r.Sparsity == 0.5 && r.Method == "l1" && (p.Train.Epochs == 0 || p.Train.Epochs == 3) {
			pruned++
		}
		return source.QuantizeUnder(ctx, g, p)
	}
	for _, p := range Presets() {
		if p.New {
			continue // TestModels
		}
		curves := p.Curves(c, frontend.NewModel{})
		if len(curves) < 3 {
			t.Errorf("%s: %d curves", p.Name, len(curves))
		}
		for _, curve := range curves {
			s, err := Read(curve.Name, []byte(curve.Text), c)
			if err != nil {
				t.Errorf("%s, %s: %v", p.Name, curve.Label, err)
				continue
			}
			if len(s.Objectives) != 1 {
				t.Errorf("%s, %s: %d objectives", p.Name, curve.Label, len(s.Objectives))
			}
			tryEach(t, c, s, p.Name+", "+curve.Label)
			if s.Trains() {
				var params []search.Param
				for _, q := range s.Parameters {
					params = append(params, search.Param{Name: q.Name, Dist: q.Dist, Value: q.Dist.Low})
				}
				if o, err := s.Try(t.Context(), c, params, nil); err != nil || o.State != search.Complete || o.Trial.Graph == nil {
					t.Errorf("%s, %s: %v, %+v", p.Name, curve.Label, err, o)
				}
			}
		}
	}
	if pruned != 2 {
		t.Errorf("%d of 2 searches prune and train as they say", pruned)
	}
}

// tryEach tries each choice of the first layer that has some, at its least.
func tryEach(t *testing.T, c *choose.Meter, s *Space, name string) {
	t.Helper()
	i := slices.IndexFunc(s.Parameters, func(p search.Parameter) bool { return p.Dist.Kind == search.Categorical })
	if i < 0 {
		return
	}
	q := s.Parameters[i]
	for k := range q.Dist.Choices {
		var params []search.Param
		_ = s.Parameters.Walk(func(o *search.Parameter) (float64, error) {
			v := o.Dist.Low
			if o.Name == q.Name {
				v = float64(k)
			}
			params = append(params, search.Param{Name: o.Name, Dist: o.Dist, Value: v})
			return v, nil
		})
		if o, err := s.Try(t.Context(), c, params, nil); err != nil || o.State == search.Fail {
			t.Errorf("%s, %s = %s: %v, %+v", name, q.Name, q.Dist.Choices[k], err, o)
		}
	}
}

// TestWarm: what is foreseen goes from the cheapest configuration to the least noise, each one that can be measured.
func TestWarm(t *testing.T) {
	c := study(t)
	s, err := Read("s.toml", []byte("[study]\nobjectives = [\"sqnr max\", \"lut min\"]\n[[quantize]]\n"+
		"format = [\"fixed(3..6)\", \"mxint8\"]\nslot = [\"weight\"]\n"), c)
	if err != nil {
		t.Fatal(err)
	}
	steps := 0
	list, measured, err := s.Warm(t.Context(), c, 4, func(_ string, done, total int) {
		if steps++; total != s.Foresight()/2 || done > total {
			t.Errorf("%d of %d", done, total)
		}
	})
	if err != nil || len(list) != 4 || steps == 0 || measured == 0 || measured > s.Foresight() {
		t.Fatalf("%d configurations of %d plans, %v", len(list), measured, err)
	}
	var values [][]float64
	for _, one := range list {
		var params []search.Param
		err := s.Parameters.Walk(func(p *search.Parameter) (float64, error) {
			v, ok := p.Dist.Value(string(one[p.Name]))
			if !ok {
				t.Fatalf("%s has no value in %v", p.Name, one)
			}
			params = append(params, search.Param{Name: p.Name, Dist: p.Dist, Value: v})
			return v, nil
		})
		if err != nil || len(params) != len(one) {
			t.Fatalf("%d of %d parameters are of the space, %v", len(params), len(one), err)
		}
		o, err := s.Try(t.Context(), c, params, nil)
		if err != nil || o.State != search.Complete {
			t.Fatalf("%+v, %v", o, err)
		}
		values = append(values, o.Values)
	}
	first, last := values[0], values[3]
	if first[0] >= last[0] || first[1] >= last[1] {
		t.Errorf("from %v to %v", first, last)
	}
	for i, v := range values[1:] {
		if v[0] <= values[i][0] {
			t.Errorf("%v loses more than %v, which costs less", v, values[i])
		}
	}
}

// TestElsewhere: a model that is gone ends the search, and is no trial that failed; formats that training refuses are.
func TestElsewhere(t *testing.T) {
	c := study(t)
	s := &Space{epochs: 1, Objectives: []Objective{{figureOf("bits"), search.Minimize}}}
	for code, want := range map[diag.Code]bool{diag.ModelOpen: false, diag.PJRTWorker: false, diag.NothingToPrune: true} {
		c.Train = func(context.Context, *plan.Plan) (*driver.Quantized, error) {
			return nil, diag.New(code, "model.onnx", "it is so")
		}
		o, err := s.Try(t.Context(), c, nil, nil)
		if failed := err == nil && o.State == search.Fail; failed != want || !want && diag.CodeOf(err) != code {
			t.Errorf("%s: %+v, %v", code, o, err)
		}
	}
}

// TestPruning: shares of zeros and ways to prune as parameters, and what is wrong with them.
func TestPruning(t *testing.T) {
	c := study(t)
	c.Train = func(context.Context, *plan.Plan) (*driver.Quantized, error) { return nil, context.Canceled }
	const head = "[study]\nobjectives = [\"sqnr max\"]\n"
	for _, r := range []struct{ text, want string }{
		{"[prune]\nsparsity = \"0.5\"\nmethod = [\"l1\", \"random\"]\n", "prune.sparsity 0.5..0.5, prune.method 0..1"},
		{"[prune]\nsparsity = \"0..0.75:0.25\"\n", "prune.sparsity 0..0.75"},
		{"[prune]\nsparsity = \"0.25 .. 0.5\"\n", "prune.sparsity 0.25..0.5"},
		{"[prune]\nsparsity = \"0.5..0.25\"\n", `s.toml:4: L1101: sparsity = "0.5..0.25": write a share`},
		{"[prune]\nsparsity = \"0..1\"\n", "s.toml:4: L1101: sparsity"},
		{"[prune]\n", "L1101: sparsity"},
		{"[prune]\nsparsity = \"0..0.5\"\nmethod = [\"l3\"]\n", `s.toml:5: L1101: unknown method "l3"`},
		{"[prune]\nsparsity = \"0..0.5\"\nmethod = [\"l1\", \"l1\"]\n", `method "l1" stands twice`},
		{"[train]\n", "s.toml:3: L1101: [train] has no epochs"},
		{"[train]\nepochs = -1\n", "s.toml:4: L1101: epochs = -1"},
	} {
		s, err := Read("s.toml", []byte(head+r.text), c)
		var got string
		if err == nil {
			var list []string
			for _, p := range s.Parameters {
				list = append(list, fmt.Sprintf("%s %g..%g", p.Name, p.Dist.Low, p.Dist.High))
			}
			got = strings.Join(list, ", ")
		} else {
			got = err.Error()
		}
		if !strings.HasPrefix(got, r.want) && (err == nil || !strings.Contains(got, r.want)) {
			t.Errorf("%s: %s", r.text, got)
		}
	}
}
