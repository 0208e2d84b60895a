// SPDX-License-Identifier: Apache-2.0

package driver_test

import (
	"bytes"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"lathe/emit/bench"
	"lathe/internal/driver"
	"lathe/internal/tools"
	"lathe/ir"
	"lathe/ir/ref"
	"lathe/lower/lowertest"
	"lathe/lower/plan"
)

// waves are the values of a waveform: at each rising edge of a clock, what stood in front of it.
type waves struct {
	names  map[string]string // by path, what stands for a signal
	values map[string]string
}

// vcd reads a waveform and calls at for each rising edge of a clock.
func vcd(t *testing.T, data []byte, clock string, at func(w *waves)) *waves {
	t.Helper()
	w := &waves{map[string]string{}, map[string]string{}}
	var scopes []string
	pending := map[string]string{}
	flush := func() {
		if id := w.names[clock]; pending[id] == "1" && w.values[id] == "0" {
			at(w)
		}
		for id, v := range pending {
			w.values[id] = v
		}
		clear(pending)
	}
	for line := range bytes.Lines(data) {
		f := strings.Fields(string(line))
		switch {
		case len(f) == 0:
		case f[0] == "$scope":
			scopes = append(scopes, f[2])
		case f[0] == "$upscope":
			scopes = scopes[:len(scopes)-1]
		case f[0] == "$var":
			w.names[strings.Join(scopes, ".")+"."+f[4]] = f[3]
		case f[0][0] == '#':
			flush()
		case strings.ContainsAny(f[0][:1], "br") && len(f) == 2:
			pending[f[1]] = f[0][1:]
		case strings.ContainsAny(f[0][:1], "01xz"):
			pending[f[0][1:]] = f[0][:1]
		}
	}
	flush()
	return w
}

// number is the value of a signal: its bits, without a sign, or a real number.
func (w *waves) number(name string) float64 {
	v, ok := w.values[w.names[name]]
	if !ok {
		return math.NaN()
	}
	if strings.HasSuffix(name, "_real") {
		x, err := strconv.ParseFloat(v, 64)
		if err != nil {
			return math.NaN()
		}
		return x
	}
	x, err := strconv.ParseUint(v, 2, 64)
	if err != nil {
		return math.NaN()
	}
	return float64(x)
}

// waved is the folder of a job after make wave, and the waveform.
func waved(t *testing.T, j *driver.Job) (dir string, wave []byte) {
	t.Helper()
	tools.Need(t, "iverilog", "make")
	if err := j.HW.Complete(t.Context(), "model.onnx", j.Samples); err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(t.TempDir(), "out")
	if err := driver.Write(j.HW.Design, dir); err != nil {
		t.Fatal(err)
	}
	said, err := exec.CommandContext(t.Context(), "make", "-C", dir, "wave").CombinedOutput()
	if err != nil || !strings.Contains(string(said), "PASS: ") {
		t.Fatalf("%v: %s", err, said)
	}
	wave, err = os.ReadFile(filepath.Join(dir, "build", j.HW.Design.Top+".vcd"))
	if err != nil {
		t.Fatal(err)
	}
	return dir, wave
}

// listed demands that a waveform has all signals that save files name, and that these name many.
func listed(t *testing.T, path string, w *waves) {
	t.Helper()
	for ext, line := range map[string]*regexp.Regexp{".gtkw": regexp.MustCompile(`(?m)^(\w+\.[\w.]+)(\[\d+:0\])?$`),
		".sucl": regexp.MustCompile(`(?m)^variable_add (\S+)$`)} {
		text, err := os.ReadFile(path + ext)
		if err != nil {
			t.Fatal(err)
		}
		found := line.FindAllSubmatch(text, -1)
		for _, m := range found {
			if w.names[string(m[1])] == "" {
				t.Errorf("%s: the waveform has no %s", ext, m[1])
			}
		}
		if len(found) < 10 {
			t.Errorf("%s names %d signals", ext, len(found))
		}
	}
}

// TestTraceLanes reads the values of each layer out of the waveforms of folders: codes, and the numbers that they are
// worth, in the order in which beats are counted. Formats: fixed point, zero points, codes of floats.
func TestTraceLanes(t *testing.T) {
	for _, c := range []struct{ name, plan string }{{"fixed", ""},
		{"affine", "[quantize]\ndata = \"int(8,z=3)*0.05\"\nweight = \"int(6)*[0]\"\n"},
		{"floats", "[quantize]\ndata = \"float(4,3)\"\nweight = \"float(3,2)\"\n"},
		{"clocks", "[target]\nstream_clock_mhz = 100\n"}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p, err := plan.Parse("plan.toml", []byte(c.plan))
			if err != nil {
				t.Fatal(err)
			}
			b := lowertest.New(t, 5)
			x := b.Conv("conv", b.Input("x", 1, 2, 5, 5), 6, 3, 1, 1, 1, true)
			g := b.Done(b.Linear("last", b.Flatten("flat", x), 5, true))
			j := graphJob(t, g, p, 3)
			j.Samples = j.Samples[:2]
			dir, wave := waved(t, &j)
			seen := elements(t, &j, wave)
			listed(t, filepath.Join(dir, "tb", j.HW.Design.Top), seen.w)
			if len(seen.layers) < 3 {
				t.Errorf("the trace shows %v", seen.layers)
			}
			if c.name == "clocks" { // the waveform of verify names lanes inside of the core
				j.FST, j.Seeds = filepath.Join(t.TempDir(), "wave.fst"), []uint64{1}
				check, err := engines(t).Verify(t.Context(), j)
				if err != nil || check.Mismatches > 0 {
					t.Fatalf("%v: %+v", err, check)
				}
				if info, err := os.Stat(j.FST); err != nil || info.Size() < 1000 {
					t.Errorf("no waveform: %v, %+v", err, info)
				}
			}
		})
	}
}

// shown is what a test has read from a waveform.
type shown struct {
	w      *waves
	layers []string
}

// elements holds what a waveform shows of the nodes of a job to what the reference computes.
func elements(t *testing.T, j *driver.Job, wave []byte) shown {
	t.Helper()
	want := map[string][]*ir.Tensor{}
	g := j.HW.Scheduled
	program, err := ref.New(g)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range j.Samples {
		if err := program.Each(t.Context(), []ref.Sample{s}, func(_, node int, v *ir.Tensor) error {
			want[g.Nodes[node].Name] = append(want[g.Nodes[node].Name], v)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	trace, err := bench.NewTrace(j.HW.Design)
	if err != nil {
		t.Fatal(err)
	}
	moved, out, nodes := map[string]int{}, shown{}, map[string]*ir.Node{j.HW.Design.Ports[0].CoreStream: g.In[0]}
	for _, u := range j.HW.Design.Units {
		nodes[u.Instance] = g.Find(u.Node)
	}
	at := j.HW.Design.Top + "_tb.lanes."
	out.w = vcd(t, wave, at+"clk", func(w *waves) {
		for _, s := range trace.Streams {
			n := nodes[s.Name]
			if n == nil || w.number(at+s.Name+"__moves") != 1 || w.number(at+"rst") != 0 {
				continue
			}
			beat, sample := moved[s.Name]%n.Beats(), moved[s.Name]/n.Beats()
			if got := w.number(at + s.Name + "__beat"); got != float64(beat) {
				t.Fatalf("%s: beat %v, not %d", s.Name, got, beat)
			}
			moved[s.Name]++
			for i, l := range s.Lanes {
				v := want[n.Name][sample]
				code := v.Codes[beat*len(s.Lanes)+i]
				if got := w.number(at + l.Name); got != float64(uint64(code)&(1<<s.Bits-1)) {
					t.Fatalf("%s, sample %d: code %v in lane %d of beat %d, not %d", s.Name, sample, got, i, beat, code)
				}
				worth, got := n.Type.Format.Decode(code).Float64(), w.number(at+l.Name+"_real")
				if s.Scale != "" && !(math.Abs(got-worth) <= 1e-14*math.Abs(worth)) { // VCD has 16 digits
					t.Fatalf("%s: %s is %v, not %v", s.Name, l.Name, got, worth)
				}
			}
		}
	})
	for _, s := range trace.Streams {
		if n := nodes[s.Name]; n != nil {
			if out.layers = append(out.layers, s.Name); moved[s.Name] != len(j.Samples)*n.Beats() {
				t.Errorf("%s: %d beats moved", s.Name, moved[s.Name])
			}
		}
	}
	return out
}
