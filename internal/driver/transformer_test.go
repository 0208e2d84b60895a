// SPDX-License-Identifier: Apache-2.0

package driver_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"lathe/frontend/source"
	"lathe/internal/driver"
	"lathe/internal/tools"
	"lathe/ir"
	"lathe/ir/op/ring"
	"lathe/ir/ref"
	"lathe/lower"
	"lathe/lower/plan"
	"lathe/lower/schedule"
)

// Forms of a design.
const (
	spatial  = "spatial"  // a unit a node
	loop     = "loop"     // all layers share one block
	external = "external" // as loop, with weights in a memory outside
	decode   = "decode"   // one token at a time behind a prompt of 16
	lengths  = "lengths"  // frames of 1 to the most tokens

	loopDecode = "loop+decode" // as decode, through layers that share one block
)

// formPlans is what a plan says for a form.
var formPlans = map[string]string{
	loop:     "\n[fold]\nlayers = \"loop\"\n",
	external: "\n[fold]\nlayers = \"loop\"\n[memory]\nweights = \"stream\"\n",
	decode:   "\n[sequence]\ndecode = true\n",
	lengths:  "\n[sequence]\nlengths = \"dynamic\"\n",

	loopDecode: "\n[fold]\nlayers = \"loop\"\n[sequence]\ndecode = true\n",
}

// network is an example that TestTransformerMatrix compiles: the tokens of its folder, how many of its samples are
// compared, how many more have masks of their own, and whether it says by its accuracy what 8 bits cost.
type network struct {
	model, file            string
	tokens, samples, masks int
	classifies             bool
}

// design is a line of the matrix.
type design struct {
	network
	form, plan string
}

func (d design) String() string { return d.model + "/" + d.form + "/" + cmp.Or(d.plan, "default") }

const promptTokens = 16

// matrix is every network in its forms under its plans. Without the tag long it is a few samples of one of two designs.
func matrix() (all []design) {
	add := func(n network, form string, plans ...string) {
		for _, p := range plans {
			all = append(all, design{n, form, p})
		}
	}
	n := func(few, all int) int { return tools.Sample(few, all) }
	vit := network{"digits-vit", "model.onnx", 0, 450, 0, true}
	like := network{"bert-tiny-like", "hf", 24, 6, 8, false}
	bert := network{"tiny-bert", "hf", 32, n(12, 360), n(8, 12), true}
	llama := network{"tiny-llama", "hf", 16, n(2, 10), 0, false}
	gpt := network{"tiny-gpt2", "hf", 80, 6, 0, false}
	if !tools.Long {
		add(bert, spatial, "")
		add(llama, spatial, "")
		return tools.Few(1, all)
	}
	plans := []string{"", "b16", "mixed", "mx"}
	for _, m := range []network{vit, bert, gpt, like, llama} {
		add(m, spatial, plans...)
		add(m, loop, "")
	}
	for _, m := range []network{bert, like, llama} {
		m.masks = 0 // those of masks have no lengths
		add(m, lengths, plans...)
	}
	for _, m := range []network{vit, bert, gpt} {
		add(m, spatial, "w4")
		add(m, external, "")
	}
	llama.tokens, llama.samples, gpt.samples = promptTokens+64, 4, 4
	for _, m := range []network{llama, gpt} {
		add(m, decode, plans...)
		add(m, loopDecode, "", "b16", "mixed")
	}
	for _, model := range []string{"digits-lstm", "digits-gru"} {
		add(network{model, "model.onnx", 0, 300, 0, true}, spatial, append(plans, "w4", "mxmix")...)
	}
	return all
}

// TestTransformerMatrix proves transformers and recurrent networks in their forms under the plans of matrix: no code
// differs from the reference, in PJRT nor in hardware, and cycles are those predicted. With the tag long, 8 bits, 16
// bits and MXINT8 cost a classifier no more than a point, there are three seeds of stalls, and -v prints the table of
// docs/transformers.md.
func TestTransformerMatrix(t *testing.T) {
	var mu sync.Mutex
	sum := map[string]int{}
	var lines []string
	t.Cleanup(func() {
		slices.Sort(lines)
		t.Logf("\n%s\n%d designs, %d outputs; codes compared: %d of PJRT, %d of the hardware; %d mismatches",
			strings.Join(lines, "\n"), len(lines), sum["outputs"], sum["pjrt"], sum["rtl"], sum["mismatches"])
	})
	for _, d := range matrix() {
		t.Run(d.String(), func(t *testing.T) {
			t.Parallel()
			j := d.job(t)
			check, err := engines(t).Verify(t.Context(), *j)
			if err != nil {
				t.Fatal(err)
			}
			d.judge(t, j, check)
			mu.Lock()
			defer mu.Unlock()
			for engine, n := range check.Compared {
				sum[engine] += n
			}
			sum["outputs"] += check.Outputs
			sum["mismatches"] += check.Mismatches
			lines = append(lines, d.line(check))
			t.Log(lines[len(lines)-1])
		})
	}
}

// job is a design with its samples.
func (d design) job(t *testing.T) *driver.Job {
	t.Helper()
	dir, plan := examples+d.model+"/", ""
	if d.plan != "" {
		text, err := os.ReadFile(examples + "plans/" + d.plan + ".toml")
		if err != nil {
			t.Fatal(err)
		}
		plan = string(text)
	}
	s := driver.Source{Model: dir + d.file, Plan: planFile(t, plan+formPlans[d.form]), Calibrate: dir + "calib.npz",
		Arrays: dir + "inputs.npz"}
	if _, err := os.Stat(s.Calibrate); err != nil {
		s.Calibrate = s.Arrays
	}
	s.Transformer = source.Transformer{Seq: d.tokens}
	if d.form == decode || d.form == loopDecode {
		s.Transformer = source.Transformer{Room: d.tokens}
		if d.model == "tiny-llama" { // its positions are computed, for 64 tokens by its configuration
			s.Model = edited(t, s.Model, `embeddings": 64`, fmt.Sprintf(`embeddings": %d`, d.tokens))
		}
	}
	hw := emitted(t, s)
	j := &driver.Job{HW: hw, Stalls: 30, Seeds: []uint64{1, 2, 3}[:tools.Sample(1, 3)], Prefill: promptTokens}
	d.read(t, j, s.Arrays)
	if d.form == loop || d.form == external || d.form == loopDecode {
		d.sameBits(t, j)
	}
	return j
}

// read takes the samples of an example, and those with masks of their own.
func (d design) read(t *testing.T, j *driver.Job, path string) {
	t.Helper()
	f, tokens := driver.Filled(j.HW.Scheduled, j.HW.Plan, arrays(t, path))
	var err error
	if j.Samples, _, err = driver.Samples(j.HW.Scheduled, f); err != nil {
		t.Fatal(err)
	}
	if j.Floats, _, err = driver.Samples(j.HW.Float, f); err != nil {
		t.Fatal(err)
	}
	j.Samples, j.Floats = j.Samples[:d.samples], j.Floats[:d.samples]
	labels := filepath.Join(filepath.Dir(path), "labels.npy")
	if _, err := os.Stat(labels); err == nil && tokens == 0 {
		if j.Labels, err = driver.Labels(labels); err != nil {
			t.Fatal(err)
		}
		j.Labels = j.Labels[:d.samples]
	}
	if d.masks > 0 {
		j.Samples = append(j.Samples, masked(j, d.masks)...)
	}
}

// masked are the first samples with other masks: none of the keys, a single one, a few here and there, all of them.
func masked(j *driver.Job, n int) (more []ref.Sample) {
	at := slices.IndexFunc(j.HW.Scheduled.In, func(n *ir.Node) bool { return n.Name == "attention_mask" })
	r := rand.New(rand.NewPCG(3, 4))
	for i := range n {
		s := slices.Clone(j.Samples[i%len(j.Samples)])
		mask := *s[at]
		mask.Codes = make([]int64, len(mask.Codes))
		switch i % 4 {
		case 1:
			mask.Codes[i%len(mask.Codes)] = 1
		case 2:
			for k := range mask.Codes {
				mask.Codes[k] = int64(r.IntN(2))
			}
		case 3:
			for k := range mask.Codes {
				mask.Codes[k] = 1
			}
		}
		s[at] = &mask
		more = append(more, s)
	}
	return more
}

// sameBits demands that layers share units, and that this changes nothing that the quantized graph gives.
func (d design) sameBits(t *testing.T, j *driver.Job) {
	t.Helper()
	if units := ring.Units(j.HW.Scheduled); len(units.Nodes) >= len(j.HW.Scheduled.Nodes) {
		t.Fatal("no layers share units")
	}
	if d.form == external && j.HW.Design.Memory == nil {
		t.Fatal("no weights lie outside")
	}
	separate, _, err := lower.Schedule(t.Context(), j.HW.Graph, plan.Default(), schedule.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var codes [2][]ref.Sample
	for i, g := range []*ir.Graph{j.HW.Scheduled, separate} {
		p, err := ref.New(g)
		if err == nil {
			codes[i], err = p.Run(t.Context(), j.Samples)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for s := range j.Samples {
		for o := range codes[0][s] {
			if !slices.Equal(codes[0][s][o].Codes, codes[1][s][o].Codes) {
				t.Fatalf("sample %d: shared layers give other codes than separate ones", s)
			}
		}
	}
}

// judge demands what the matrix promises of a design.
func (d design) judge(t *testing.T, j *driver.Job, c *driver.Check) {
	t.Helper()
	if c.Mismatches != 0 || c.Samples != d.samples+d.masks {
		t.Errorf("%d of %d codes of %d samples differ: %v", c.Mismatches, c.Outputs, c.Samples, c.First)
	}
	if c.Compared["pjrt"] < c.Outputs || c.Compared["rtl"] < c.Outputs {
		t.Errorf("%v codes were compared of %d", c.Compared, c.Outputs)
	}
	if c.Stalls.Starved == 0 || c.Stalls.Blocked == 0 {
		t.Errorf("a kind of stall never happened: %+v", c.Stalls)
	}
	if k := c.Decode; k != nil && (k.Tokens != d.tokens || k.Prefill != promptTokens || k.Short == 0 || k.Surplus == 0) {
		t.Errorf("%+v", k)
	}
	if l := c.Lengths; (d.form == lengths) != (l != nil) || l != nil && l.Short < 60 {
		t.Errorf("frames of changing length: %+v", l)
	}
	for _, w := range c.Warnings {
		if strings.Contains(w, "predicted") {
			t.Error(w)
		}
	}
	if a := c.Accuracy; d.classifies && tools.Long && slices.Contains([]string{"", "b16", "mx"}, d.plan) &&
		a.Quantized < *a.Float-0.01 {
		t.Errorf("accuracy fell from %.4f to %.4f", *a.Float, a.Quantized)
	}
}

// line is a design in the table of docs/transformers.md.
func (d design) line(c *driver.Check) string {
	accuracy, token := "", ""
	if a := c.Accuracy; a != nil {
		accuracy = fmt.Sprintf("%.4f, %.4f", *a.Float, a.Quantized)
	}
	if c.Decode != nil {
		token = fmt.Sprintf("; %d a token", c.Decode.MostCycles)
	}
	quality := ""
	if c.SQNR != nil {
		quality = fmt.Sprintf("%.1f dB", *c.SQNR)
	}
	return fmt.Sprintf("| %s | %s | %s | %d | %d | %d | %d | %s%s | %s | %s |", d.model, d.form, cmp.Or(d.plan, "none"),
		c.Outputs, c.Compared["pjrt"]+c.Compared["rtl"], c.Mismatches, c.Latency, fmt.Sprint(c.II), token, accuracy, quality)
}
