// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"strings"
	"testing"

	"lathe/internal/diag"
	"lathe/ir/unit"
	"lathe/lower/lowertest"
	"lathe/lower/plan"
)

// TestWeights decides where weights live: by use, by rules, and nowhere but in the chip for what has no words.
func TestWeights(t *testing.T) {
	for _, c := range []struct{ plan, want string }{
		{"", "conv1 , conv2 , fc "},
		{"[memory]\nweights = \"external\"\nburst = 1\naxi_bits = 64", "conv1 hold, conv2 hold, fc stream"},
		{"[memory]\nweights = \"external\"", "conv1 hold, conv2 hold, fc hold"}, // fc is smaller than buffers
		{"[memory]\nweights = \"stream\"\n[[fold.rule]]\nname = \"conv2\"\nweights = \"hold\"\n" +
			"[[fold.rule]]\nname = \"fc\"\nweights = \"rom\"", "conv1 stream, conv2 hold, fc "},
		{"[[fold.rule]]\nname = \"conv1\"\nweights = \"external\"", "conv1 hold, conv2 , fc "},
		{"[memory]\ncheck = \"start\"", "conv1 check, conv2 check, fc check"},
	} {
		g, r, err := decided(t, lowertest.Classifier(t), c.plan)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, n := range g.Nodes {
			if n.Op.Traits.Weighted && !n.IsConst() {
				got = append(got, n.Name+" "+n.HW.Weights)
			}
		}
		if strings.Join(got, ", ") != c.want || len(r.Warnings) > 0 {
			t.Errorf("%q: %v, want %s; %v", c.plan, got, c.want, r.Warnings)
		}
	}
}

// TestRam decides the RAM of weights that are loaded, and refuses it by a rule where none are.
func TestRam(t *testing.T) {
	g, _, err := decided(t, lowertest.Classifier(t), "[memory]\nweights = \"hold\"\nram = \"ultra\"\n"+
		"[[fold.rule]]\nname = \"conv2\"\nram = \"block\"\n[[fold.rule]]\nname = \"fc\"\nweights = \"stream\"")
	if err != nil {
		t.Fatal(err)
	}
	for name, ultra := range map[string]bool{"conv1": true, "conv2": false, "fc": false} {
		f, err := (&unit.Cache{}).Facts(g.Find(name))
		if err != nil || (f.Cost.URAM > 0) != ultra {
			t.Errorf("%s takes %+v, %v", name, f.Cost, err)
		}
	}
	_, _, err = decided(t, lowertest.Classifier(t), "[[fold.rule]]\nname = \"conv1\"\nram = \"ultra\"")
	if diag.CodeOf(err) != "L0419" || !strings.Contains(err.Error(), "are not loaded after reset") {
		t.Error(err)
	}
}

// TestWeightsUnrolled keeps constants where a wish for all layers meets an unrolled one, and says so.
func TestWeightsUnrolled(t *testing.T) {
	b := lowertest.New(t, 2)
	g := b.Done(b.Linear("fc2", b.Linear("fc1", b.Input("x", 1, 8), 4, true), 3, true))
	q, r, err := decided(t, g, "[memory]\nweights = \"stream\"\n[[fold.rule]]\nname = \"fc1\"\nstyle = \"unroll\"")
	if err != nil || q.Find("fc1").HW.Weights != "" || q.Find("fc2").HW.Weights != "stream" {
		t.Fatalf("%v: %+v", err, q.Find("fc1").HW)
	}
	want := `fc1 keeps weights = "rom": its weights are constants`
	if !strings.Contains(strings.Join(r.Notes, "\n"), want) {
		t.Errorf("notes %q", r.Notes)
	}
}

// TestCheckRefused: weights that lie outside by a rule are not checked; one that is unrolled is named.
func TestCheckRefused(t *testing.T) {
	const check = "[memory]\ncheck = \"start\"\n[[fold.rule]]\nname = \"conv1\"\n"
	_, _, err := decided(t, lowertest.Classifier(t), check+"weights = \"hold\"")
	wantError(t, err, "L0419", "conv1", "leave weights out of the rule")
	g, r, err := decided(t, lowertest.Classifier(t), check+"style = \"unroll\"")
	if err != nil || g.Find("conv1").HW.Weights != "" || !strings.Contains(strings.Join(r.Notes, "\n"),
		"nothing checks the weights of conv1: its weights are constants") {
		t.Errorf("%v; %q", err, r.Notes)
	}
}

// TestMemoryPlan refuses ports that are none.
func TestMemoryPlan(t *testing.T) {
	for text, want := range map[string]string{
		"axi_bits = 100":                        "axi_bits = 100 is no power of two from 64 to 512\n  hint: use 128",
		"axi_bits = 1024":                       "use 512",
		"axi_bits = -1":                         "use 64",
		"burst = 48":                            "use 64",
		"burst = 512":                           "use 256",
		"burst = 0":                             "use 1",
		"check = \"start\"\nweights = \"hold\"": "leave one of the two out",
		"check = \"start\"\ncache = \"external\"": "leave one of the two out",
		"weights = \"externl\"":                   "did you mean \"external\"?",
	} {
		_, err := plan.Parse("p.toml", []byte("[memory]\n"+text))
		if diag.CodeOf(err) != "L0402" || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestMemoryRate refuses a rate for which the port is too narrow, by name.
func TestMemoryRate(t *testing.T) {
	const plan = "\n[memory]\nweights = \"stream\"\naxi_bits = 64"
	_, _, err := balanced(t, "fps = 2e5"+plan)
	wantError(t, err, "L0455", "conv1", "its weights come through the memory port, 64 bits a cycle")
	_, _, err = balanced(t, "fps = 1.7e5"+plan)
	wantError(t, err, "L0455", "at \"the memory port\"", "raise axi_bits")
}
