// SPDX-License-Identifier: Apache-2.0

package errortest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"lathe/emit/verilog"
	"lathe/frontend/onnx"
	"lathe/frontend/source"
	"lathe/golden"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/ref"
	"lathe/ir/text"
	"lathe/lower"
	"lathe/lower/plan"
	"lathe/lower/quantize"
	"lathe/lower/schedule"
)

// FuzzGraph takes a text graph through all stages: whatever it says, a stage refuses it with a coded error or does its
// work, but never panics.
func FuzzGraph(f *testing.F) {
	for _, src := range seeds(f) {
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src string) { survives(t, src) })
}

// TestStrangeGraphs is the same with words of one graph put into another, which bytes at random rarely do.
func TestStrangeGraphs(t *testing.T) {
	const count = 3000
	texts := seeds(t)
	var words []string
	for _, src := range texts {
		words = append(words, piece.FindAllString(src, -1)...)
	}
	words = append(words, rare...)
	ends := map[string]int{} // by code, those that become hardware by none
	for seed := range uint64(count) {
		r := rand.New(rand.NewPCG(1, seed))
		src := texts[r.IntN(len(texts))]
		for range 1 + r.IntN(3) {
			at := piece.FindAllStringIndex(src, -1)
			at = at[min(3, len(at)-1):] // lathe 1 graph
			span := at[r.IntN(len(at))]
			src = src[:span[0]] + words[r.IntN(len(words))] + src[span[1]:]
		}
		t.Run(fmt.Sprint(seed), func(t *testing.T) { ends[string(survives(t, src))]++ })
	}
	if ends[""] < count/100 || len(ends) < 15 {
		t.Errorf("what became of the graphs, by code: %v", ends)
	}
	t.Log(ends)
}

// piece is what TestStrangeGraphs exchanges.
var piece = regexp.MustCompile(`%?[A-Za-z_][\w.]*(?:\([-\w,=]*\))?(?:\*\[?-?[\w.]+\]?)?|-?[0-9][\w.]*`)

// rare words are sound by themselves.
var rare = strings.Fields(`0 -1 -0 1e30 nan 9223372036854775807 true scalar 1x0 0x8 1x1x1x1x1 ? fp32 mxint8 int(1)
	ufixed(1,0) fixed(64,0) fixed(8,-70) fixed(2,40) int(8)*[0] int(8)*[5] int(8)*0.3 int(8,z=3)*0.5 add sub mul scale
	conv maxpool avgpool global_avgpool batch_norm argmax transpose reshape cast clip leaky_relu tanh widen narrow fifo
	const input`)

// survives takes one text through all stages and returns the code of the error that ends it, if any.
func survives(t *testing.T, src string) diag.Code {
	defer func() {
		if p := recover(); p != nil {
			t.Errorf("%v\n%s\n%s", p, debug.Stack(), src)
		}
	}()
	g, err := text.Parse("g.lathe", src, nil)
	if err == nil {
		err = g.Check()
	}
	if err == nil && small(g) {
		err = stages(t, g)
	}
	if err != nil && diag.CodeOf(err) == "" {
		t.Errorf("an error without a code: %v\n%s", err, src)
	}
	return diag.CodeOf(err)
}

// seeds are the texts of the catalogue and of small models, float, quantized and scheduled.
func seeds(f testing.TB) []string {
	var texts []string
	for _, e := range diag.Catalogue() {
		for _, file := range txtar.Parse([]byte(e.Example)).Files {
			if filepath.Ext(file.Name) == ".lathe" {
				texts = append(texts, string(file.Data))
			}
		}
	}
	models, err := filepath.Glob(filepath.Join(fixtures, "*.onnx"))
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range models {
		if info, err := os.Stat(path); err != nil || info.Size() > 2000 {
			continue
		}
		g, err := onnx.Load(path, source.Options{})
		if err != nil {
			continue
		}
		texts = append(texts, text.Print(g))
		if q, _, err := lower.Quantize(f.Context(), g, plan.Default(), quantize.Calibration{},
			quantize.Options{}); err == nil {
			texts = append(texts, text.Print(q))
			if s, _, err := lower.Schedule(f.Context(), q, plan.Default(), schedule.Options{}); err == nil {
				texts = append(texts, text.Print(s))
			}
		}
	}
	return texts
}

// small says that all values together take little memory.
func small(g *ir.Graph) bool {
	total := 0
	for _, n := range g.Nodes {
		if total += n.Type.Elems(); n.Type.Elems() > 1000 || total > 10_000 {
			return false
		}
	}
	return true
}

// stages does with g what its stage allows and returns the first error.
func stages(t *testing.T, g *ir.Graph) error {
	program, err := ref.New(g)
	if err != nil {
		return err
	}
	var sample ref.Sample
	for _, n := range g.In {
		sample = append(sample, ir.NewTensor(n.Type))
	}
	if _, err := program.Run(t.Context(), []ref.Sample{sample}); err != nil {
		return err
	}
	if _, err := golden.Print(g, 2, false); err != nil {
		return err
	}
	if g.Stage == ir.StageFloat {
		if g, _, err = lower.Quantize(t.Context(), g, plan.Default(), quantize.Calibration{},
			quantize.Options{}); err != nil {
			return err
		}
	}
	if g.Stage == ir.StageQuantized {
		if g, _, err = lower.Schedule(t.Context(), g, plan.Default(), schedule.Options{}); err != nil {
			return err
		}
	}
	_, err = verilog.Emit(g, verilog.Options{})
	return err
}
