// SPDX-License-Identifier: Apache-2.0

package evidence

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"lathe/emit/plot"
)

// Width is one training of widths, and the hardware that came of it.
type Width struct {
	Network string `json:"network"`
	// Peer says that HGQ2 trained it and alkaid printed it; else both is ours.
	Peer bool `json:"peer,omitempty"`
	// Price is what a bit costs in the loss, as the trainer's users write it: the two losses count bits differently.
	Price  string `json:"price"`
	Seed   int    `json:"seed"`
	Epochs int    `json:"epochs"`
	// Accuracy is the share of right answers of the integers on samples that were not trained on.
	Accuracy float64 `json:"accuracy"`
	// LUT and FF are counted by Yosys; 0 where they are not.
	LUT int `json:"lut,omitempty"`
	FF  int `json:"ff,omitempty"`
	// Commit is the state of the sources that trained and printed ours.
	Commit string `json:"commit,omitempty"`
}

// Name is the row of a line: "digits-mlp Lathe 1e-05 seed 1".
func (w *Width) Name() string {
	return fmt.Sprintf("%s %s %s seed %d", w.Network, w.maker(), w.Price, w.Seed)
}

func (w *Width) maker() string {
	if w.Peer {
		return "HGQ2"
	}
	return "Lathe"
}

// HasWidth says that there is a line of a name.
func (e *Evidence) HasWidth(name string) bool {
	return slices.ContainsFunc(e.Widths, func(w Width) bool { return w.Name() == name })
}

// SetWidth takes a line in the place of an earlier one of the same name.
func (e *Evidence) SetWidth(w Width) {
	e.Widths = slices.DeleteFunc(e.Widths, func(o Width) bool { return o.Name() == w.Name() })
	e.Widths = append(e.Widths, w)
	slices.SortFunc(e.Widths, func(a, b Width) int { return strings.Compare(a.Name(), b.Name()) })
}

// trainedAt is a price over all seeds.
type trainedAt struct {
	first        Width
	seeds        int
	accuracy, sd float64
	lut, ff      float64
}

// pricesOf are the prices of a network by one maker, the least hardware first.
func (e *Evidence) pricesOf(network string, peer bool) []trainedAt {
	var out []trainedAt
	for i, w := range e.Widths {
		if w.Network != network || w.Peer != peer ||
			slices.ContainsFunc(out, func(t trainedAt) bool { return t.first.Price == w.Price }) {
			continue
		}
		t := trainedAt{first: w}
		var all []float64
		counted := 0.0
		for _, o := range e.Widths[i:] {
			if o.Network == network && o.Peer == peer && o.Price == w.Price {
				all = append(all, o.Accuracy)
				if t.lut, t.ff = t.lut+float64(o.LUT), t.ff+float64(o.FF); o.LUT > 0 {
					counted++
				}
			}
		}
		t.seeds = len(all)
		n := float64(t.seeds)
		if counted == 0 {
			continue
		}
		t.lut, t.ff = t.lut/counted, t.ff/counted
		for _, a := range all {
			t.accuracy += a / n
		}
		for _, a := range all {
			t.sd += (a - t.accuracy) * (a - t.accuracy) / max(n-1, 1)
		}
		t.sd = math.Sqrt(t.sd)
		out = append(out, t)
	}
	slices.SortFunc(out, func(a, b trainedAt) int { return int(math.Copysign(1, a.lut-b.lut)) })
	return out
}

// widthNetworks are the networks of the lines.
func (e *Evidence) widthNetworks() []string {
	var names []string
	for _, w := range e.Widths {
		if !slices.Contains(names, w.Network) {
			names = append(names, w.Network)
		}
	}
	return names
}

// WidthsPage is docs/training-widths.md.
func (e *Evidence) WidthsPage() string {
	var b strings.Builder
	b.WriteString(widthsHead)
	for _, network := range e.widthNetworks() {
		ours, peers := e.pricesOf(network, false), e.pricesOf(network, true)
		fmt.Fprintf(&b, "\n## %s\n\n", network)
		fmt.Fprintf(&b, "| trained by | price | seeds | epochs | accuracy, %% | LUT | FF | ours, no less accurate | "+
			"ratio |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|\n")
		row := func(t *trainedAt, beside string) {
			fmt.Fprintf(&b, "| %s | %s | %d | %d | %.2f +- %.2f | %.0f | %.0f | %s |\n", t.first.maker(), t.first.Price,
				t.seeds, t.first.Epochs, 100*t.accuracy, 100*t.sd, t.lut, t.ff, beside)
		}
		for i := range ours {
			row(&ours[i], "|")
		}
		for i := range peers {
			beside := "none |"
			for _, t := range ours { // the least first
				if t.accuracy >= peers[i].accuracy {
					beside = fmt.Sprintf("%.0f | %.2f", t.lut, t.lut/peers[i].lut)
					break
				}
			}
			row(&peers[i], beside)
		}
		fmt.Fprintf(&b, "\n![%s: accuracy against LUTs](training-widths-%s.svg)\n", network, network)
	}
	return strings.ReplaceAll(b.String(), "~", "`")
}

// WidthsPlots are the pictures of the page, by network.
func (e *Evidence) WidthsPlots() map[string][]byte {
	out := map[string][]byte{}
	for _, network := range e.widthNetworks() {
		c := plot.Chart{Title: network + ": accuracy against LUTs", X: "LUT after synthesis",
			Y: "accuracy, %, mean of the seeds"}
		for _, peer := range []bool{false, true} {
			s := plot.Series{Name: (&Width{Peer: peer}).maker()}
			for _, t := range e.pricesOf(network, peer) {
				s.Points = append(s.Points, plot.Point{X: t.lut, Y: 100 * t.accuracy,
					Label: fmt.Sprintf("price %s: %.2f %%, %.0f LUT", t.first.Price, 100*t.accuracy, t.lut)})
			}
			c.Series = append(c.Series, s)
		}
		out[network] = c.SVG()
	}
	return out
}

// ~ stands for a backquote.
const widthsHead = `# Trained widths beside HGQ2 and alkaid

    scripts/setup hgq
    scripts/measure widths

trains networks of examples in two ways, makes hardware of both, and writes this page. The shapes are 64-32-32-10
(digits-mlp) and 16-64-32-32-5 (jets-mlp), all layers unrolled, one sample per cycle.

- **Ours**: ~lathe sweep bits~ under the example's ~widths.toml~, from random parameters (~--fresh~), then
  ~lathe emit-verilog~. The design has ~valid~, ~ready~ and an output buffer in each layer, and the AXI4-Stream
  wrapper.
- **HGQ2** 0.2.0 on Keras 3.15.1 and JAX 0.10.2, with the quantizers of its own examples, Adam at 3e-3, batches of 32, a
  cosine schedule. alkaid 0.8.2 prints it (~alkaid convert --flavor verilog --latency-cutoff 5~) and says that its
  circuit computes what the model does. The design has neither handshakes nor an enable.

Both see the same training samples, in the same number of epochs (of ours, those in floats count), and are judged on the
same other samples, by the integers of the hardware. Prices stand in different losses and cannot be compared. Yosys maps
both by the same command, without DSPs and flat: the network of the first seed, since that takes longer than training.
The last two columns are the least LUTs of ours at no less accuracy in the mean of the seeds, and their share of the
LUTs of HGQ2's network.
`
