// SPDX-License-Identifier: Apache-2.0

//go:build long

package area_test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lathe/internal/driver"
	"lathe/internal/tools"
	"lathe/ir/ref"
	"lathe/sim"
	"lathe/sim/area"
	"lathe/sim/area/paths"
)

// plan is how ours are unrolled.
const plan = "[unroll]\nstages = 2\ndepth = 10\n"

// jets is the trained example, rounded half up: alkaid would take more for ties to even.
var jets = network{name: "jets-mlp", model: "../../examples/jets-mlp/model.onnx",
	calibrate: "../../examples/jets-mlp/calib.npz", plan: plan + "[quantize]\nround = \"up\"\n"}

// networks are those that are compared.
var networks = []network{
	{name: "matrices, 8-bit activations", bits: 8, plan: plan},
	{name: "matrices, 16-bit activations", bits: 16, plan: strings.Replace(plan, "10", "12", 1)},
	jets,
}

// A peer is a network as alkaid prints it.
type peer struct {
	Cycles  int
	Seconds float64
	In, Out []place
	Values  [][]int64 // codes of the outputs for the samples, by alkaid's interpreter
	dir     string
	files   []string
}

// A place is where an element lies in a port.
type place struct {
	Bits, Fraction, At int
	Signed             bool
}

// peerLevels are alkaid's levels between registers where cells are counted.
const peerLevels = 5

// alkaid prints a network, with at most so many of its levels between registers.
func alkaid(t *testing.T, d described, levels int) *peer {
	python, dir := tools.NeedAlkaid(t), t.TempDir()
	data, err := json.Marshal(d)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "network.json"), data, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, "testdata/network.py", filepath.Join(dir, "network.json"), "2", filepath.Join(dir, "peer"),
		fmt.Sprint(levels))
	cmd.Env = append(os.Environ(), "OMP_NUM_THREADS=1")
	cmd.Stderr = os.Stderr
	said, err := cmd.Output()
	if err != nil {
		t.Fatalf("alkaid: %v\n%s", err, said)
	}
	p := &peer{dir: filepath.Join(dir, "peer", "src")}
	if err := json.Unmarshal(said, p); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	for _, glob := range []string{"peer.v", "logic*.v", "static/*.v"} {
		found, err := filepath.Glob(filepath.Join(p.dir, glob))
		if err != nil || found == nil {
			t.Fatalf("alkaid wrote no %s: %v", glob, err)
		}
		for _, path := range found {
			name, err := filepath.Rel(p.dir, path)
			if err != nil {
				t.Fatal(err)
			}
			p.files = append(p.files, name)
		}
	}
	return p
}

// bench feeds words to alkaid's text, one a cycle, and prints those that come out.
const bench = `module bench;
  reg clk = 0;
  reg [%d:0] words [0:%d];
  reg [%d:0] in;
  wire [%d:0] out;
  integer i;
  peer peer (.clk(clk), .model_inp(in), .model_out(out));
  initial begin
    $readmemh("in.hex", words);
    for (i = 0; i < %d; i = i + 1) begin
      in = words[i < %d ? i : 0];
      #1 clk = 1;
      #1 clk = 0;
      if (i >= %d) $display("%%h", out);
    end
    $finish;
  end
endmodule
`

// run simulates alkaid's text with codes of the input, and returns those of the outputs.
func (p *peer) run(t *testing.T, samples [][]int64) (out [][]int64) {
	width := func(list []place) int { last := list[len(list)-1]; return last.At + last.Bits }
	var words strings.Builder
	for _, s := range samples {
		word := new(big.Int)
		for i, e := range p.In {
			code := new(big.Int).SetUint64(uint64(s[i]) & (1<<e.Bits - 1))
			word.Or(word, code.Lsh(code, uint(e.At)))
		}
		fmt.Fprintf(&words, "%x\n", word)
	}
	dir, n := t.TempDir(), len(samples)
	text := fmt.Sprintf(bench, width(p.In)-1, n-1, width(p.In)-1, width(p.Out)-1, n+p.Cycles, n, p.Cycles)
	for name, content := range map[string]string{"in.hex": words.String(), "bench.v": text} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	args := []string{"-g2005", "-s", "bench", "-o", "bench", "bench.v"}
	for _, f := range p.files {
		args = append(args, filepath.Join(p.dir, f))
	}
	var said []byte
	for _, c := range [][]string{append([]string{"iverilog"}, args...), {"vvp", "-n", "bench"}} {
		cmd := exec.CommandContext(t.Context(), c[0], c[1:]...)
		cmd.Dir = dir
		var err error
		if said, err = cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", c[0], err, said)
		}
	}
	for line := range strings.Lines(string(said)) {
		if word, ok := new(big.Int).SetString(strings.TrimSpace(line), 16); ok {
			out = append(out, codes(word, p.Out))
		}
	}
	if len(out) != n {
		t.Fatalf("%d words of %d: %.500s", len(out), n, said)
	}
	return out
}

// codes takes a word apart.
func codes(word *big.Int, places []place) []int64 {
	list := make([]int64, len(places))
	for i, e := range places {
		v := new(big.Int).Rsh(word, uint(e.At)).Uint64() & (1<<e.Bits - 1)
		if e.Signed && v>>(e.Bits-1) != 0 {
			v |= ^uint64(0) << e.Bits
		}
		list[i] = int64(v)
	}
	return list
}

// simulated is how many of the samples alkaid's text is run with: Icarus takes a second for each.
const simulated = 24

// samples makes inputs for a network, half of them random, half of extremes, and what it makes of them by definition.
func samples(t *testing.T, hw *driver.Hardware, d *described, n int) (in, want []ref.Sample) {
	in, err := driver.RandomSamples(hw.Graph, n, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range in {
		d.Samples = append(d.Samples, s[0].Codes)
	}
	program, err := ref.New(hw.Graph)
	if err != nil {
		t.Fatal(err)
	}
	if want, err = program.Run(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	return in, want
}

// same holds both designs to the definition: ours simulated with all samples, alkaid's graph interpreted with all, and
// its text simulated with some.
func same(t *testing.T, hw *driver.Hardware, d *described, p *peer, in, want []ref.Sample) {
	equal := func(who string, i int, got []int64) {
		if !slices.Equal(got, want[i][0].Codes) {
			t.Errorf("sample %d: %d by %s, %d by definition", i, got, who, want[i][0].Codes)
		}
	}
	for i, got := range p.Values {
		equal("alkaid's graph", i, got)
	}
	fraction := d.Layers[len(d.Layers)-1].Fraction
	for i, got := range p.run(t, d.Samples[:simulated]) {
		for o, e := range p.Out {
			got[o] <<= fraction - e.Fraction
		}
		equal("alkaid's text", i, got)
	}
	outputs, err := sim.IcarusDesign(t.Context(), tools.CacheDir(t), hw.Design, in, sim.Input{})
	if err != nil {
		t.Fatal(err)
	}
	for i, got := range outputs {
		equal("our text", i, got[0].Codes)
	}
	if len(p.Values) != len(want) || len(outputs) != len(want) {
		t.Errorf("%d and %d results of %d samples", len(p.Values), len(outputs), len(want))
	}
}

// A match is a network as both make it.
type match struct {
	network
	ours, peer            *area.Figures
	ourCycles, peerCycles int
}

// TestAlkaidNetworks compares whole networks with those of alkaid 0.8.2, in a section behind that of TestAlkaid. With
// -run for some networks, the rows of the others stay.
func TestAlkaidNetworks(t *testing.T) {
	tools.Need(t, "yosys", "iverilog")
	tools.NeedAlkaid(t)
	const path = "../../docs/area.md"
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text := networksHead
	for _, n := range networks {
		var rows string
		for line := range strings.Lines(string(page)) {
			if strings.HasPrefix(line, "| "+n.name+" |") {
				rows += line
			}
		}
		t.Run(n.name, func(t *testing.T) {
			m := &match{network: n}
			m.fill(t)
			rows = m.rows()
		})
		text += rows
	}
	if !t.Failed() {
		area.Section(t, path, "Constant networks", text)
	}
}

// fill makes, simulates and counts a network.
func (m *match) fill(t *testing.T) {
	hw := hardware(t, m.source(t))
	d := describe(t, hw.Graph)
	in, want := samples(t, hw, &d, 300)
	p := alkaid(t, d, peerLevels)
	same(t, hw, &d, p, in, want)
	for _, u := range hw.Design.Units {
		m.ourCycles += u.Latency
	}
	m.peerCycles = p.Cycles
	dir := filepath.Join(t.TempDir(), "design")
	if err := driver.Write(hw.Design, dir); err != nil {
		t.Fatal(err)
	}
	files, top, err := area.Sources(dir)
	if err != nil {
		t.Fatal(err)
	}
	m.ours = area.Mapped(t, dir, files, top)
	t.Logf("ours, %d cycles: %+v", m.ourCycles, *m.ours)
	m.peer = area.Mapped(t, p.dir, p.files, "peer")
	t.Logf("alkaid, %d cycles, solved in %.1f s: %+v", m.peerCycles, p.Seconds, *m.peer)
}

// rows are those of the table: bold is where alkaid is better.
func (m *match) rows() string {
	var ours, peer strings.Builder
	fmt.Fprintf(&ours, "| %s | Lathe |", m.name)
	fmt.Fprintf(&peer, "| %s | alkaid |", m.name)
	for i, c := range [][2]int{{m.ours.LUT, m.peer.LUT}, {m.ours.LUT + m.ours.INV, m.peer.LUT + m.peer.INV},
		{m.ours.Cells, m.peer.Cells}, {m.ours.FF, m.peer.FF}, {m.ourCycles, m.peerCycles},
		{m.ours.Longest[paths.LUT], m.peer.Longest[paths.LUT]},
		{m.ours.Longest[paths.Carry], m.peer.Longest[paths.Carry]}} {
		form := " %d |"
		if c[0] > c[1] {
			form = " **%d** |"
		}
		fmt.Fprintf(&ours, form, c[0])
		fmt.Fprintf(&peer, " %d |", c[1])
		if i == 0 {
			fmt.Fprintf(&ours, " %.3f |", float64(c[0])/float64(c[1]))
			peer.WriteString(" |")
		}
	}
	return ours.String() + "\n" + peer.String() + "\n"
}

var networksHead = strings.ReplaceAll(`
Whole networks of four unrolled layers, 16-64-32-32-5, a sample a cycle, mapped by the same command, which
~make bench-alkaid~ runs too. Ours are what ~lathe emit-verilog~ prints from a model and a plan, all of it: ~valid~,
~ready~ and an output buffer in each layer, the AXI4-Stream wrapper. alkaid's have neither handshakes nor an enable,
and registers at both ends. They compute the same: 300 vectors, half of them random and half extremes, go through our
text in Icarus, the reference, and alkaid's interpreter of its graph, 24 of them also through alkaid's text in Icarus,
and every code has to agree.

"Matrices" have the weights of the section above, 8 bits wide; hidden layers leave out the lowest 8, 9 and 9 bits of
their sums and saturate to activations without sign, outputs are exact. jets-mlp is the trained example in 8 bits,
rounded half up, for which both add a constant. Our plan says ~mode = "unroll"~, ~stages = 2~ and ~depth = 10~, with
activations of 16 bits 12; alkaid has ~hard_dc=2~ and registers every five of its levels. Its cycles count from the
registers at its inputs to those at its outputs; ours have none at the inputs. LUTs and carry chains in a row are the
most between two registers in the mapped netlist, each on a path of its own. Bold is where alkaid is better.

| network | made by | LUT | ratio | LUT and INV | cells | FF | cycles | LUTs in a row | carry chains in a row |
|---|---|--:|--:|--:|--:|--:|--:|--:|--:|
`, "~", "`")
