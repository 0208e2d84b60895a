// SPDX-License-Identifier: Apache-2.0

package board

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.bug.st/serial"

	"lathe/emit/shell"
	host "lathe/internal/board"
	"lathe/internal/diag"
	"lathe/internal/tools"
	"lathe/ir/target"
	"lathe/sim"
)

// twins is a core of two inputs and two outputs: m_axis_0 is s_axis_0 plus 1, m_axis_1 the complement of s_axis_1. A
// sample that begins with ed comes out late, one with ee never, and one with ef has a beat too many.
const twins = `module twins (
    input wire ap_clk,
    input wire ap_rst_n,
    input wire [7:0] s_axis_0_tdata,
    input wire s_axis_0_tvalid,
    output wire s_axis_0_tready,
    input wire s_axis_0_tlast,
    input wire [23:0] s_axis_1_tdata,
    input wire s_axis_1_tvalid,
    output wire s_axis_1_tready,
    input wire s_axis_1_tlast,
    output wire [7:0] m_axis_0_tdata,
    output wire m_axis_0_tvalid,
    input wire m_axis_0_tready,
    output wire m_axis_0_tlast,
    output wire [23:0] m_axis_1_tdata,
    output wire m_axis_1_tvalid,
    input wire m_axis_1_tready,
    output wire m_axis_1_tlast,
    output wire memory_error,
    output wire [15:0] frames_seen
);
  twins_core core (
      .ap_clk(ap_clk), .ap_rst_n(ap_rst_n), .s_axis_0_tdata(s_axis_0_tdata), .s_axis_0_tvalid(s_axis_0_tvalid),
      .s_axis_0_tready(s_axis_0_tready), .s_axis_0_tlast(s_axis_0_tlast), .s_axis_1_tdata(s_axis_1_tdata),
      .s_axis_1_tvalid(s_axis_1_tvalid), .s_axis_1_tready(s_axis_1_tready), .s_axis_1_tlast(s_axis_1_tlast),
      .m_axis_0_tdata(m_axis_0_tdata), .m_axis_0_tvalid(m_axis_0_tvalid), .m_axis_0_tready(m_axis_0_tready),
      .m_axis_0_tlast(m_axis_0_tlast), .m_axis_1_tdata(m_axis_1_tdata), .m_axis_1_tvalid(m_axis_1_tvalid),
      .m_axis_1_tready(m_axis_1_tready), .m_axis_1_tlast(m_axis_1_tlast)
  );
  assign memory_error = 1'b0;
  assign frames_seen = 16'd0;
endmodule
`

const twinsCore = `module twins_core (
    input wire ap_clk, ap_rst_n,
    input wire [7:0] s_axis_0_tdata, input wire s_axis_0_tvalid, output wire s_axis_0_tready, input wire s_axis_0_tlast,
    input wire [23:0] s_axis_1_tdata, input wire s_axis_1_tvalid, output wire s_axis_1_tready,
    input wire s_axis_1_tlast,
    output wire [7:0] m_axis_0_tdata, output wire m_axis_0_tvalid, input wire m_axis_0_tready,
    output wire m_axis_0_tlast,
    output wire [23:0] m_axis_1_tdata, output wire m_axis_1_tvalid, input wire m_axis_1_tready,
    output wire m_axis_1_tlast
);
  reg first, stuck, more, extra;
  reg [12:0] late;
  wire held = first && (s_axis_0_tdata == 8'hee || s_axis_0_tdata == 8'hed && !(&late));
  assign m_axis_0_tdata = s_axis_0_tdata + 8'd1;
  assign m_axis_0_tvalid = extra || s_axis_0_tvalid && !stuck && !held;
  assign m_axis_0_tlast = s_axis_0_tlast;
  assign s_axis_0_tready = m_axis_0_tready && !extra && !(held && s_axis_0_tdata == 8'hed);
  assign m_axis_1_tdata = ~s_axis_1_tdata;
  assign m_axis_1_tvalid = s_axis_1_tvalid;
  assign m_axis_1_tlast = s_axis_1_tlast;
  assign s_axis_1_tready = m_axis_1_tready;
  always @(posedge ap_clk) begin
    late <= s_axis_0_tvalid && held ? late + 13'd1 : 13'd0;
    if (extra && m_axis_0_tready) extra <= 1'b0;
    if (s_axis_0_tvalid && s_axis_0_tready) begin
      first <= s_axis_0_tlast;
      if (first) stuck <= s_axis_0_tdata == 8'hee;
      if (first) more <= s_axis_0_tdata == 8'hef;
      if (s_axis_0_tlast && more) extra <= 1'b1;
    end
    if (!ap_rst_n) {first, stuck, more, extra} <= 4'b1000;
  end
endmodule
`

const twinsJSON = `{"name": "twins", "lathe": "0", "top": "twins", "core": "twins_core",
"sources": ["twins_core.sv", "twins.v"], "files": [], "units": [{"node": "y", "cycles": 4}], "ports": [
{"name": "a", "direction": "in", "stream": "s_axis_0", "beats": 6, "tdata_width": 8},
{"name": "b", "direction": "in", "stream": "s_axis_1", "beats": 2, "tdata_width": 24},
{"name": "c", "direction": "out", "stream": "m_axis_0", "beats": 6, "tdata_width": 8},
{"name": "d", "direction": "out", "stream": "m_axis_1", "beats": 2, "tdata_width": 24}]}
`

// frameBytes are those of a sample of twins, and of its results.
const frameBytes = 12

func twinsFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"twins.v": twins, "twins_core.sv": twinsCore, "design.json": twinsJSON} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func twinsOn(t *testing.T) *shell.Core {
	t.Helper()
	core, err := shell.Read(twinsFolder(t))
	if err != nil {
		t.Fatal(err)
	}
	return core
}

func boardNamed(t *testing.T, name string) *target.Board {
	t.Helper()
	b, err := target.FindBoard(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// result is what twins makes of a sample.
func result(sample []byte) []byte {
	out := bytes.Clone(sample)
	for i := range out {
		if out[i] ^= 0xff; i < 6 {
			out[i] = sample[i] + 1
		}
	}
	return out
}

// draw makes samples; those bytes come often that are no plain bytes on the line.
func draw(count int, seed uint64) [][]byte {
	r := rand.New(rand.NewPCG(seed, 3))
	list := make([][]byte, count)
	for i := range list {
		list[i] = make([]byte, frameBytes)
		for k := range list[i] {
			if list[i][k] = byte(r.Uint32()); r.IntN(4) == 0 {
				list[i][k] = []byte{0xc0, 0xdb, 0xdc, 0xdd}[r.IntN(4)]
			}
		}
		list[i][0] &= 0x7f
	}
	return list
}

// start simulates twins on a board and opens the line.
func start(t *testing.T, f Faults, timeout time.Duration) (*host.Link, *shell.Core) {
	t.Helper()
	tools.Need(t, "verilator", "g++", "make")
	core := twinsOn(t)
	s, err := Simulate(t.Context(), core, boardNamed(t, "icebreaker"), 0, tools.CacheDir(t), 1, f)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	port, err := serial.Open(s.Path, &serial.Mode{BaudRate: 3_000_000})
	if err == nil {
		err = port.SetReadTimeout(10 * time.Millisecond)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { port.Close() })
	l, err := host.Open(t.Context(), port, host.Options{Name: s.Path, Timeout: timeout, Tries: 60, First: 7,
		Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	return l, core
}

// check runs samples and demands the right results.
func check(t *testing.T, l *host.Link, samples [][]byte) {
	t.Helper()
	results, err := l.Run(t.Context(), samples, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range samples {
		if !bytes.Equal(results[i], result(samples[i])) {
			t.Fatalf("sample %d, %x, has the result %x, want %x", i, samples[i], results[i], result(samples[i]))
		}
	}
}

// hasty is a time within which a simulated board mostly answers.
const hasty = 60 * time.Millisecond

// TestFaults: whatever goes wrong on the line, and while the board is reset in mid-frame, every result is that of its
// sample.
func TestFaults(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	rarely := func(odds, value int) func() int {
		return func() int {
			if r.IntN(odds) == 0 {
				return value
			}
			return 0
		}
	}
	torn := rarely(300, 1)
	for name, c := range map[string]struct {
		faults  Faults
		timeout time.Duration
		again   bool // samples must have been sent again
	}{
		"clean":  {Faults{}, time.Minute, false},
		"flood":  {Faults{}, hasty, true},
		"stalls": {Faults{Stall: rarely(50, 100)}, time.Minute, false},
		"noise":  {Noise(60, 1), hasty, true},
		"torn":   {Faults{Torn: func() bool { return torn() > 0 }}, hasty, true},
		"resets": {Faults{Reset: rarely(400, 50)}, hasty, true},
		"all": {Faults{To: Noise(20, 2).To, From: Noise(20, 3).From, Stall: rarely(50, 100), Reset: rarely(900, 9)}, hasty,
			true},
	} {
		t.Run(name, func(t *testing.T) {
			l, core := start(t, c.faults, c.timeout)
			if err := l.Is(core.ID, frameBytes, frameBytes); err != nil {
				t.Fatal(err)
			}
			samples := draw(300, 1)
			if name == "flood" {
				l.Window = 20
				for i := 0; i < len(samples); i += 7 {
					samples[i][0] = 0xed
				}
			}
			check(t, l, samples)
			i := l.Info()
			if name == "flood" && i.Refused == 0 {
				t.Error("the board had room for everything, so nothing was tested")
			}
			t.Logf("%d sent again, %d damaged answers, %+v", l.Again, l.Damaged(), i)
			if (l.Again > 0) != c.again {
				t.Errorf("%d samples were sent again", l.Again)
			}
			if !c.again && (i.Answered != 300 || i.Broken+i.Refused+i.Late+i.Faulty > 0 || l.Damaged() > 0) {
				t.Errorf("a quiet line, and the board says %+v", i)
			}
			if name == "noise" && (i.Broken == 0 || l.Damaged() == 0) {
				t.Error("noise without damaged packets, so nothing was tested")
			}
		})
	}
}

// TestCoreFaults: a core that does not answer, or answers too much, is reset; the next sample is right.
func TestCoreFaults(t *testing.T) {
	l, _ := start(t, Faults{}, 200*time.Millisecond)
	l.Tries = 2
	for first, want := range map[byte]string{0xee: "no result came in time", 0xef: "did not end where they should"} {
		samples := draw(3, 9)
		samples[1][0] = first
		if first == 0xef { // its beat too many is found when the next sample comes, or at once
			samples = samples[:2]
		}
		_, err := l.Run(t.Context(), samples, nil)
		if first == 0xee && (diag.CodeOf(err) != diag.BoardFailed || !strings.Contains(err.Error(), want)) {
			t.Errorf("%02x: %v, want %q", first, err, want)
		}
		check(t, l, draw(5, 10))
		if err := l.Ask(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if i := l.Info(); i.Late != 2 || i.Faulty == 0 {
		t.Errorf("%+v, want 2 late and some faulty", i)
	}
}

// TestLint: the shells of all boards pass all warnings of Verilator, and Icarus and Yosys read them.
func TestLint(t *testing.T) {
	tools.Need(t, "verilator", "iverilog", "yosys")
	core := twinsOn(t)
	for _, b := range target.Boards() {
		setting, err := shell.Nearest(&b, 0)
		if err != nil {
			t.Fatal(err)
		}
		files, top, err := shell.Board(core, shell.Options{Board: &b, Setting: setting, Version: "0"})
		if err != nil {
			t.Fatal(err)
		}
		files = append(core.Files[:len(core.Files):len(core.Files)], files...)
		if err := sim.Lint(t.Context(), tools.CacheDir(t), top, files); err != nil {
			t.Errorf("%s: %v", b.Name, err)
		}
		if err := sim.Elaborate(t.Context(), tools.CacheDir(t), top, files); err != nil {
			t.Errorf("%s: %v", b.Name, err)
		}
	}
}
