// SPDX-License-Identifier: Apache-2.0

package space

import (
	"fmt"
	"math"
	"strings"

	"lathe/frontend/source"
	"lathe/internal/choose"
	"lathe/search/sampler"
)

// Curve is one search of a preset: what it may choose, and what proposes.
type Curve struct {
	// Label is a word for the curve, Name one for files and studies.
	Label, Name string
	// Sampler is empty where it is the usual one.
	Sampler string
	// Text is the space, as a user would write it.
	Text string
}

// Preset is a comparison of searches that the field's courses and papers make.
type Preset struct {
	Name, Short string
	// Title is what the curves show of a model.
	Title string
	// New says that its searches make new models, of sizes about those of a folder of Hugging Face.
	New    bool
	curves func(t *choose.Meter) []Curve
	models func(t *choose.Meter, n source.NewModel) []Curve
}

// Presets are all of them.
func Presets() []Preset {
	return []Preset{
		{Name: "samplers", Title: "Fewest bits of the constants", curves: samplers,
			Short: "grid, random and TPE, on the widths of weights: fewest bits at nearly the accuracy of float"},
		{Name: "mixed", Title: "Mixed precision", curves: mixed,
			Short: "fixed point of 8, 16 and 32 bits with 2, 4 and 8 bits of fraction, layer by layer"},
		{Name: "compress", Title: "Pruned to half or less, with 2 to 4 bits", curves: compressed,
			Short: "few bits and many zeros: not at all, by themselves, and trained for three epochs each"},
		{Name: "formats", Title: "Families of formats within five bits a weight", curves: families,
			Short: "one search a family of formats, and one that may mix all, within five bits a weight"},
		{Name: "nas", Title: "New models", New: true, models: architectures,
			Short: "grid, random and TPE, on layers, heads and widths of new models of a Hugging Face folder"},
		{Name: "compress-nas", Title: "New models, compressed", New: true, models: compressedModels,
			Short: "the same by TPE: not compressed, with few bits and many zeros, and trained once more with them"},
	}
}

// Curves are the searches of the preset for a model, or about the sizes of new ones.
func (p *Preset) Curves(t *choose.Meter, n source.NewModel) []Curve {
	if p.New {
		return p.models(t, n)
	}
	return p.curves(t)
}

// kept is the figure by which results are judged, and what of it may be lost.
func kept(t *choose.Meter) (figure, least string) {
	switch {
	case t.On.Score != nil:
		const share = 0.02 // of the score
		if t.On.Least {
			return "score min", fmt.Sprintf("<= %.6g", *t.On.Score*(1+share))
		}
		return "score max", fmt.Sprintf(">= %.6g", *t.On.Score*(1-share))
	case t.Accuracy != nil:
		const points = 0.01
		return "accuracy max", fmt.Sprintf(">= %.6g", *t.Accuracy-points)
	}
	return "sqnr max", ">= 20"
}

func samplers(t *choose.Meter) (out []Curve) {
	weighted := 0
	for _, l := range t.Layers {
		if l.Weights > 0 {
			weighted++
		}
	}
	widths := "2..8"
	if math.Pow(7, float64(weighted)) > sampler.MostPoints { // of a grid
		widths = "4..8:4"
	}
	figure, least := kept(t)
	name, _, _ := strings.Cut(figure, " ")
	text := fmt.Sprintf("[study]\nobjectives = [\"bits min\"]\n\n[[quantize]]\nslot = [\"weight\"]\n"+
		"format = [\"fixed(%s)\"]\n\n[constraint]\n%s = %q\n", widths, name, least)
	for _, s := range []string{"grid", "random", "tpe"} {
		out = append(out, Curve{Label: s, Name: s, Sampler: s, Text: text})
	}
	return out
}

func mixed(t *choose.Meter) []Curve {
	figure, _ := kept(t)
	space := func(widths ...int) string {
		var formats []string
		for _, w := range widths {
			for _, f := range []int{2, 4, 8} {
				formats = append(formats, fmt.Sprintf("\"fixed(%d,%d)\"", w, f))
			}
		}
		return fmt.Sprintf("[study]\nobjectives = [%q]\n\n[[quantize]]\nformat = [%s]\n", figure, strings.Join(formats, ", "))
	}
	return []Curve{{Label: "8 bits", Name: "8", Text: space(8)}, {Label: "16 bits", Name: "16", Text: space(16)},
		{Label: "8, 16 or 32 bits", Name: "mixed", Text: space(8, 16, 32)}}
}

func compressed(t *choose.Meter) []Curve {
	figure, _ := kept(t)
	space := func(format, more string) string {
		return fmt.Sprintf("[study]\nobjectives = [%q]\n\n[[quantize]]\nslot = [\"weight\"]\nformat = [%q]\n%s", figure,
			format, more)
	}
	const half = "\n[prune]\nsparsity = \"0.5..0.9:0.1\"\n"
	return []Curve{{Label: "6 to 8 bits, nothing pruned", Name: "none", Text: space("fixed(6..8)", "")},
		{Label: "compressed", Name: "compressed", Text: space("fixed(2..4)", half)},
		{Label: "compressed and trained", Name: "trained", Text: space("fixed(2..4)", half+"\n[train]\nepochs = 3\n")}}
}

// formatFamilies are what weights may have in the preset formats, those of about the same cost.
var formatFamilies = []struct {
	label, name string
	formats     []string
}{
	{"fixed point", "fixed", []string{"fixed(2..6)"}},
	{"integers with real scales", "int", []string{"int(2..6)*[0]"}},
	{"floats", "float", []string{"float(2,1,bias=2..6)", "float(3,0,bias=4..8)", "float(2,2,bias=2..6)",
		"float(3,1,bias=4..8)"}},
	{"powers of two", "log", []string{"log(3..6,bias=3..9)"}},
	{"binary to residual", "signs", []string{"binary*[0]", "ternary*[0]", "residual(2..4)*[0]"}},
	{"MX integers", "mxint", []string{"mxint(3..6,16)", "mxint(3..6,32)"}},
	{"MX floats", "mxfp", []string{"mxfp(e2m1,16)", "mxfp(e2m1,32)", "mxfp(e3m2,32)", "mxfp(e2m3,32)"}},
}

func families(t *choose.Meter) (out []Curve) {
	figure, _ := kept(t)
	space := func(formats []string) string {
		return fmt.Sprintf("[study]\nobjectives = [%q]\n\n[[quantize]]\nslot = [\"weight\"]\nformat = [\"%s\"]\n\n"+
			"[constraint]\nweight_bits = \"<= 5\"\n", figure, strings.Join(formats, `", "`))
	}
	var all []string
	for _, f := range formatFamilies {
		out = append(out, Curve{Label: f.label, Name: f.name, Text: space(f.formats)})
		all = append(all, f.formats...)
	}
	return append(out, Curve{Label: "all at once", Name: "all", Text: space(all)})
}
