// SPDX-License-Identifier: Apache-2.0

package area

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"lathe/internal/tools"
	"lathe/rtl"
)

// single is a module of the library with parameters given as pairs of name and value.
type single struct {
	module string
	set    []string
}

// params are the parameters; of one that stands twice the last value counts.
func (s single) params() (set []rtl.Param) {
	for i := 0; i < len(s.set); i += 2 {
		p := rtl.Param{Name: s.set[i], Value: s.set[i+1]}
		if at := slices.IndexFunc(set, func(q rtl.Param) bool { return q.Name == p.Name }); at >= 0 {
			set[at] = p
		} else {
			set = append(set, p)
		}
	}
	return set
}

// TestModuleCosts counts modules by themselves, all in one run of Yosys, and holds the cost lines of their headers to
// the counts: DSPs and block RAMs exactly, LUTs and FFs within 2 cells and 5 %.
func TestModuleCosts(t *testing.T) {
	tools.Need(t, "yosys")
	modules := []single{
		{"stream_skid", []string{"WIDTH", "32"}},
		{"num_mul", []string{"A_W", "8", "B_W", "8"}},
		{"num_mul", []string{"A_W", "4", "B_W", "4"}},
		{"num_mul", []string{"A_W", "20", "B_W", "20"}},
		{"num_mul_pair", []string{"X_W", "8", "W_W", "8"}},
		{"num_add_tree", []string{"N", "12", "IN_W", "12", "PIPE", "2"}},
		{"num_dot", []string{"N", "4", "A_W", "8", "B_W", "8", "PIPE", "2"}},
		{"op_linear_meet", []string{"IN_LANES", "8", "KEEP", "2", "OF", "4"}},
		{"op_linear_meet", []string{"IN_LANES", "4", "KEEP", "1", "OF", "2"}},
		{"op_linear_meet", []string{"IN_LANES", "16", "KEEP", "3", "OF", "8"}},
		{"op_linear_meet", []string{"IN_LANES", "16", "KEEP", "2", "OF", "16"}},
		{"num_chain", []string{"N", "9"}},
		{"num_chain", []string{"N", "40"}},
		{"stream_fifo", []string{"WIDTH", "100", "DEPTH", "1000"}},
		{"mem_ram", []string{"WIDTH", "32", "DEPTH", "128"}},
		{"mem_ram", []string{"WIDTH", "24", "DEPTH", "128"}},
		{"op_attend_scores", []string{"QUERIES", "16", "KEYS", "16", "ROW", "16"}},
		{"op_attend_sum", []string{"QUERIES", "7", "KEYS", "9", "GROUPS", "2", "SIZE", "16", "ROW", "10", "F", "4", "R", "2",
			"CAUSAL", "1"}},
		{"num_rsqrt", []string{"V_W", "50", "R_W", "32", "FAR", "1"}},
		{"op_norm_lane", []string{"N", "192", "S_W", "16"}},
		{"op_norm", []string{"N", "192", "GAIN_W", "0", "EPS", "63'd98956044"}},
		{"op_softmax", []string{"ROWS", "400", "N", "197", "LANES", "1", "LIVE", "197", "CAUSAL", "1", "HEADS", "4"}},
		{"op_softmax_masked", []string{"ROWS", "4", "N", "64", "LANES", "2"}},
		{"op_softmax_masked", []string{"ROWS", "96", "N", "48", "LANES", "2", "CAUSAL", "1", "HEADS", "2"}},
		{"op_softmax", []string{"N", "96", "LANES", "3", "IN_W", "16", "OUT_W", "16", "FO", "16", "LIVE", "96"}},
		{"op_log_softmax", []string{"ROWS", "16", "N", "10"}},
		{"num_chain_pair", []string{"N", "9"}},
		{"num_chain_pair", []string{"N", "40", "OUT_W", "20"}},
	}
	holdCosts(t, t.TempDir(), modules, 20)
}

// TestLowCosts does the same with sums of products of few bits: within an eighth.
func TestLowCosts(t *testing.T) {
	tools.Need(t, "yosys")
	holdCosts(t, t.TempDir(), []single{
		{"num_dot_low", []string{"N", "16", "A_W", "8", "B_W", "1", "B_E", "-1"}},
		{"num_dot_signs", []string{"N", "64"}},
		{"num_dot_low", []string{"N", "16", "A_W", "8", "A_SIGNED", "0", "B_W", "2"}},
		{"num_dot_low", []string{"N", "8", "A_W", "2", "B_W", "2"}},
		{"num_dot_low", []string{"N", "16", "A_W", "4", "B_W", "4"}},
		{"num_dot_low", []string{"N", "8", "A_W", "8", "A_SIGNED", "0", "B_W", "4"}},
		{"num_dot_low", []string{"N", "8", "A_W", "1", "A_E", "-1", "B_W", "8"}},
		{"num_dot_tiny", []string{"N", "16"}},
		{"num_dot_signs", []string{"N", "16"}},
		{"num_dot_signs", []string{"N", "33", "PIPE", "1"}},
	}, 8)
}

// TestLineCosts does the same with line buffers in each memory. Counters of small frames are within a third.
func TestLineCosts(t *testing.T) {
	tools.Need(t, "yosys")
	seq := single{"op_window_seq", []string{"H", "16", "W", "32", "NB", "4", "C", "2", "IN_LANES", "2", "OUT_LANES", "2"}}
	rows := single{"op_window_rows", []string{"H", "16", "W", "80", "NB", "4"}}
	tile := single{"op_pool_tile", []string{"H", "4", "W", "80", "C", "8", "LANES", "2"}}
	var modules []single
	for _, style := range []string{"ultra", "block", "distributed", "auto"} {
		for _, m := range []single{seq, rows, tile} {
			modules = append(modules, single{m.module, append(slices.Clip(m.set), "LINE_STYLE", strconv.Quote(style))})
		}
	}
	holdCosts(t, t.TempDir(), modules, 3)
}

// TestSessionCosts does the same with what begins and ends the sequences of decoders.
func TestSessionCosts(t *testing.T) {
	tools.Need(t, "yosys")
	modules := []single{
		{"stream_session", []string{"TOKENS", "80", "BEATS", "1"}},
		{"stream_session", []string{"TOKENS", "512", "BEATS", "16", "OUTS", "2"}},
		{"stream_answer", []string{"TOKENS", "80", "BEATS", "1"}},
		{"stream_credit", []string{"WIDTH", "128", "ROWS", "9"}},
		{"stream_credit", []string{"WIDTH", "20"}},
		{"stream_credit", []string{"WIDTH", "65", "ROWS", "40"}},
		{"stream_cross", []string{"WIDTH", "129"}},
		{"stream_cross", []string{"WIDTH", "41", "AW", "6"}},
		{"stream_restart", nil},
		{"stream_widen", []string{"WIDTH", "32", "N", "4"}},
		{"mx_widen", []string{"WIDTH", "32", "N", "4"}},
		{"stream_group", []string{"WIDTH", "32", "BEATS", "100", "GROUP", "2"}},
		{"stream_group", []string{"WIDTH", "128", "BEATS", "1", "GROUP", "3"}},
		{"stream_follow", []string{"WIDTH", "32", "BEATS", "100"}},
		{"stream_follow", []string{"WIDTH", "128", "BEATS", "1"}},
		{"stream_ungroup", []string{"WIDTH", "32", "BEATS", "100"}},
		{"stream_ungroup", []string{"WIDTH", "8", "BEATS", "1"}},
		{"stream_answer", []string{"TOKENS", "2048", "BEATS", "64"}},
	}
	holdCosts(t, t.TempDir(), modules, 20)
}

// TestFrameCosts does the same with what frames of changing length take.
func TestFrameCosts(t *testing.T) {
	tools.Need(t, "yosys")
	modules := []single{
		{"stream_frames", []string{"WIDTH", "32", "BEATS", "24", "TOKENS", "197"}},
		{"stream_frames", []string{"WIDTH", "8", "BEATS", "1", "TOKENS", "16"}},
		{"stream_frames", []string{"WIDTH", "16", "BEATS", "4", "TOKENS", "64"}},
		{"stream_frames", []string{"WIDTH", "64", "BEATS", "100", "TOKENS", "1000"}},
		{"stream_mark", []string{"WIDTH", "32", "BEATS", "24"}},
		{"stream_mark", []string{"WIDTH", "8", "BEATS", "1"}},
		{"stream_count", []string{"TOKENS", "197"}},
		{"stream_check", []string{"WIDTH", "32", "BEATS", "24"}},
		{"stream_check", []string{"WIDTH", "8", "BEATS", "1"}},
		{"stream_check", []string{"WIDTH", "128", "BEATS", "1000"}},
	}
	holdCosts(t, t.TempDir(), modules, 20)
}

// TestOutsideCosts does the same with what fetches weights from a memory outside: within an eighth.
func TestOutsideCosts(t *testing.T) {
	tools.Need(t, "yosys")
	modules := []single{
		{"mem_ram", []string{"WIDTH", "100", "DEPTH", "3456", "STYLE", `"ultra"`}},
		{"mem_ram", []string{"WIDTH", "100", "DEPTH", "5000", "STYLE", `"ultra"`}},
		{"axi_read", []string{"CLIENTS", "1"}},
		{"axi_read", []string{"CLIENTS", "9", "AT_W", "32"}},
		{"axi_read", []string{"CLIENTS", "40", "AT_W", "24"}},
		{"axi_read", []string{"CLIENTS", "24", "BITS", "256", "AT_W", "22"}},
		{"mem_stream", []string{"WIDTH", "32", "DEPTH", "1000"}},
		{"mem_stream", []string{"WIDTH", "200", "DEPTH", "500", "BURST", "32", "BUFFER", "64"}},
		{"mem_stream", []string{"WIDTH", "128", "DEPTH", "4096", "AT_W", "20", "BURST", "64", "BUFFER", "128"}},
		{"mem_hold", []string{"WIDTH", "32", "DEPTH", "1000"}},
		{"mem_hold", []string{"WIDTH", "48", "DEPTH", "90", "STYLE", `"distributed"`}},
		{"mem_hold", []string{"WIDTH", "24", "DEPTH", "512", "SETS", "4", "TURNS", "3", "AT_W", "20"}},
	}
	holdCosts(t, t.TempDir(), modules, 8)
}

// TestCacheCosts does the same with what writes and reads keys and values in a memory outside: within an eighth.
func TestCacheCosts(t *testing.T) {
	tools.Need(t, "yosys")
	modules := []single{
		{"axi_write", []string{"CLIENTS", "4"}},
		{"axi_write", []string{"CLIENTS", "24", "BITS", "256", "AT_W", "22"}},
		{"mem_cache", []string{"WIDTH", "8", "TOKENS", "80", "HEADS", "4", "GROUPS", "4", "BEATS", "4", "LANES", "1",
			"BITS", "64", "BURST", "16"}},
		{"mem_cache", []string{"WIDTH", "64", "TOKENS", "64", "HEADS", "4", "GROUPS", "2", "BEATS", "2", "LANES", "4",
			"BITS", "128", "BURST", "64"}},
		{"mem_cache", []string{"WIDTH", "256", "TOKENS", "2048", "HEADS", "32", "GROUPS", "8", "BEATS", "2", "LANES",
			"2", "BITS", "128", "BURST", "64", "AT_W", "20"}},
	}
	holdCosts(t, t.TempDir(), modules, 8)
}

// TestImageCosts does the same with modules that read a memory image, without which nothing of them would be left.
// Counts of a module differ by some cells with what is mapped before it, so new modules have runs of their own.
func TestImageCosts(t *testing.T) {
	tools.Need(t, "yosys")
	dir := t.TempDir()
	var image strings.Builder
	for i := range 256 {
		fmt.Fprintf(&image, "%012x\n", i*0x0123456789ab&0xffffffffffff)
	}
	write(t, dir, "ramp.mem", image.String())
	holdCosts(t, dir, []single{
		{"op_rotate", []string{"TOKENS", "64", "HEADS", "3", "SIZE", "16", "TURNED", "16", "LANES", "2", "C_W", "12",
			"ROM_STYLE", `"block"`, "IMAGE", `"ramp.mem"`}},
		{"op_rotate", []string{"TOKENS", "64", "HEADS", "4", "SIZE", "16", "TURNED", "16", "LANES", "4", "C_W", "12",
			"ADJACENT", "1", "ROM_STYLE", `"block"`, "IMAGE", `"ramp.mem"`}},
	}, 20)
	holdCosts(t, dir, []single{
		{"op_interp", []string{"IMAGE", `"ramp.mem"`}},
		{"op_interp", []string{"D", "2", "EDGE", "2", "IMAGE", `"ramp.mem"`}},
	}, 20)
}

// TestBlockCosts does the same with products over blocks and of codes of floats, whose shifters are modelled within an
// eighth.
func TestBlockCosts(t *testing.T) {
	tools.Need(t, "yosys")
	holdCosts(t, t.TempDir(), []single{
		{"num_mul_float", []string{"A_W", "8", "A_E", "4", "A_NAN", "1", "B_W", "8", "B_E", "4"}},
		{"num_mul_float", []string{"A_W", "8", "A_E", "0", "B_W", "6", "B_E", "3"}},
		{"num_mul_float", []string{"A_W", "4", "A_E", "3", "B_W", "4", "B_E", "3"}},
		{"mx_attend_scores", []string{"QUERIES", "17", "KEYS", "17", "ROW", "17", "HEADS", "4", "GROUPS", "4", "SIZE", "8",
			"F", "8", "K", "8", "OFFSET", "-227", "SPAN", "38", "LOW", "12", "CLAMP", "0", "SUM_W", "38", "OUT_W", "38"}},
		{"mx_attend_scores", []string{"QUERIES", "16", "KEYS", "16", "ROW", "16", "SIZE", "40", "K", "32", "R", "2",
			"CAUSAL", "1", "D_W", "21"}},
		{"mx_tile", []string{"LINE", "8", "TOKENS", "49", "K", "32"}},
		{"mx_attend_sum", []string{"QUERIES", "17", "KEYS", "17", "HEADS", "4", "GROUPS", "4", "SIZE", "8", "F", "2",
			"R", "1", "K", "32"}},
	}, 8)
}

// some leaves the first of the sizes of each module, and an eighth of the modules; where all is counted anew all stay.
func some(modules []single) (kept []single) {
	if tools.Anew() {
		return modules
	}
	for _, m := range modules {
		same := func(k single) bool { return k.module == m.module }
		if !slices.ContainsFunc(kept, same) {
			kept = append(kept, m)
		}
	}
	return tools.Few((len(kept)+7)/8, kept)
}

// holdCosts compares what the headers of modules say with the counts of one run in the given folder: LUTs
// and FFs within 2 cells and 1 in share. No path may be longer than the limit.
func holdCosts(t *testing.T, dir string, modules []single, share int) {
	t.Helper()
	near := func(predicted, counted int) bool {
		d := max(predicted-counted, counted-predicted)
		return d <= 2+counted/share
	}
	modules, counts := countModules(t, dir, modules)
	for i, m := range modules {
		h, err := rtl.Lookup(m.module)
		if err != nil {
			t.Fatal(err)
		}
		p, err := h.Cost(m.params(), nil)
		if err != nil {
			t.Fatal(err)
		}
		c := counts[i]
		if !near(p.LUT, c.LUT) || !near(p.FF, c.FF) || p.DSP != c.DSP || p.BRAM != c.BRAM18+2*c.BRAM36 ||
			p.URAM != c.URAM {
			t.Errorf("%s: its header says %+v, Yosys counts %+v", m, p, c)
		}
	}
}

// counted is Count, or what is recorded of the same design: only the total, and the instances in the top.
func counted(t *testing.T, dir string, files []string, top string, opts Options) *Report {
	t.Helper()
	digest := designDigest(t, dir, files, top, opts)
	var known Report
	if tools.Recorded(t, digest, &known) {
		return &known
	}
	r, err := Count(t.Context(), dir, files, top, opts)
	if err != nil {
		t.Fatal(err)
	}
	r.Instances = slices.DeleteFunc(r.Instances, func(in Instance) bool { return in.Depth > 1 })
	r.Modules = nil
	tools.Record(t, digest, r)
	return r
}

func designDigest(t *testing.T, dir string, files []string, top string, opts Options) string {
	t.Helper()
	device := "default"
	if opts.Device != nil {
		device = opts.Device.Name
	}
	return tools.DesignDigest(t, dir, files, top, device, opts.NoDSP, opts.Flatten, opts.Paths)
}

// countModules counts each of the modules, all in one run in the given folder; where that is not recorded, a short run
// counts some of them, and says which. No path may be longer than the limit.
func countModules(t *testing.T, dir string, modules []single) ([]single, []Cells) {
	t.Helper()
	files, opts := besides(t, dir, modules), Options{Paths: true}
	if digest := designDigest(t, dir, files, "modules", opts); !tools.IsRecorded(t, digest) {
		modules = some(modules)
		files = besides(t, dir, modules)
	}
	r := counted(t, dir, files, "modules", opts)
	holdPaths(t, r, modules)
	counts, found := make([]Cells, len(modules)), 0
	for _, in := range r.Instances {
		var i int
		if n, _ := fmt.Sscanf(in.Path, "modules/u%d", &i); n == 1 && in.Depth == 1 {
			counts[i] = in.Cells
			found++
		}
	}
	if found != len(modules) {
		t.Fatalf("%d of %d modules are counted", found, len(modules))
	}
	return modules, counts
}

// besides writes the modules' files and a top, "modules", that holds one instance of each (u0, u1, ...), with all their
// ports as its own. It returns the names of the files.
func besides(t *testing.T, dir string, modules []single) (names []string) {
	t.Helper()
	written := map[string]bool{}
	var ports, body strings.Builder
	for i, m := range modules {
		files, err := rtl.Files(m.module)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if !written[f.Name] {
				written[f.Name] = true
				write(t, dir, f.Name, string(f.Data))
				names = append(names, f.Name)
			}
		}
		h, err := rtl.Lookup(m.module)
		if err != nil {
			t.Fatal(err)
		}
		values, err := h.Values(m.params())
		if err != nil {
			t.Fatal(err)
		}
		var set, links []string
		for _, p := range m.params() {
			set = append(set, fmt.Sprintf(".%s(%s)", p.Name, p.Value))
		}
		for _, p := range h.Ports {
			w, err := h.Width(p.Name, values)
			if err != nil {
				t.Fatal(err)
			}
			direction := map[bool]string{false: "input", true: "output"}[p.Output]
			fmt.Fprintf(&ports, "  %s wire [%d:0] u%d_%s,\n", direction, w-1, i, p.Name)
			links = append(links, fmt.Sprintf(".%s(u%d_%s)", p.Name, i, p.Name))
		}
		fmt.Fprintf(&body, "  %s #(%s) u%d (%s);\n", m.module, strings.Join(set, ", "), i, strings.Join(links, ", "))
	}
	head := strings.TrimSuffix(ports.String(), ",\n")
	write(t, dir, "modules.v", "module modules (\n"+head+"\n);\n"+body.String()+"endmodule\n")
	return append(names, "modules.v")
}
