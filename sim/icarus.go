// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"lathe/internal/diag"
)

// Icarus runs the design in Icarus Verilog, on a generated bench of its own, and returns the output streams. It is
// slow: a second opinion on a few frames. Registers start unknown there, and an unknown bit that leaves is an error.
// Of the Input it takes Streams, Frames, the beat counts, Seed, MaxIdle and the percentages of Idle and Back. Results
// are cached. Errors: L0701 no iverilog, L0709 Icarus refuses the design, L0704 and L0705 as for Run, L0712 unknown
// bits.
func Icarus(ctx context.Context, spec Spec, in Input) ([][]byte, error) {
	spec.Taps = nil
	if err := spec.check(); err != nil {
		return nil, err
	}
	if _, err := (&Model{spec: spec}).request(in); err != nil {
		return nil, err
	}
	bench := spec.icarusBench(in)
	run := append([]string{"-n", "bench.vvp"}, spec.Memory.plusargs(in)...)
	parts := append([]string{version("iverilog", "-V"), bench, spec.wrapper(), in.kindLines()}, run...)
	for i, p := range spec.In {
		parts = append(parts, hexLines(in.Streams[i], p.Bytes()))
	}
	for _, f := range spec.all() {
		parts = append(parts, f.Name, string(f.Bytes()))
	}
	dir, err := cached(ctx, spec.CacheDir, "icarus-"+digest(parts...), func(dir string) error {
		if err := spec.write(dir); err != nil {
			return err
		}
		for i, p := range spec.In {
			text := hexLines(in.Streams[i], p.Bytes())
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("i%d.hex", i)), []byte(text), 0o644); err != nil {
				return err
			}
		}
		for name, text := range map[string]string{"bench.sv": bench, "kinds.hex": in.kindLines()} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				return err
			}
		}
		args := append([]string{"-g2012", "-s", "lathe_bench", "-o", "bench.vvp"}, spec.sources()...)
		if err := tool(ctx, dir, diag.SecondToolFailed, "iverilog", append(args, "bench.sv")...); err != nil {
			return err
		}
		if err := tool(ctx, dir, diag.DesignStopped, "vvp", run...); err != nil {
			return err
		}
		return ended(filepath.Join(dir, "result.txt"))
	})
	if err != nil {
		return nil, err
	}
	return spec.icarusResult(dir, in)
}

// ended finds runs that somebody stopped: vvp then leaves what it has and calls that success.
func ended(result string) error {
	text, err := os.ReadFile(result)
	if err == nil && !bytes.HasSuffix(text, []byte("end\n")) && !bytes.Contains(text, []byte("deadlock")) {
		err = diag.New(diag.DesignStopped, "", "vvp stopped before the end of its bench").WithHint("run it again")
	}
	return err
}

// icarusResult reads what the bench wrote.
func (s *Spec) icarusResult(dir string, in Input) ([][]byte, error) {
	text, err := os.ReadFile(filepath.Join(dir, "result.txt"))
	if err != nil {
		return nil, diag.New(diag.SimulationEnded, s.Top, "Icarus left no result: %v", err)
	}
	streams := make([][]byte, len(s.Out))
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		if line == "end" {
			break
		}
		var port int
		var digits string
		if _, err := fmt.Sscanf(line, "o%d %s", &port, &digits); err != nil || port >= len(streams) {
			return nil, diag.New(diag.Stuck, s.Top, "Icarus: %s", line)
		}
		size := s.Out[port].Bytes()
		beat, err := hex.DecodeString(fmt.Sprintf("%0*s", 2*size, digits))
		if err != nil {
			return nil, diag.New(diag.UnknownBits, s.Top, "Icarus: port %s, beat %d has unknown bits: %s", s.Out[port].Name,
				len(streams[port])/size, digits)
		}
		streams[port] = append(streams[port], reverse(beat)...)
	}
	return streams, nil
}

// hexLines prints a stream for $readmemh.
func hexLines(stream []byte, size int) string {
	var b strings.Builder
	for ; len(stream) >= size; stream = stream[size:] {
		b.WriteString(hex.EncodeToString(reverse(append([]byte(nil), stream[:size]...))))
		b.WriteByte('\n')
	}
	return b.String()
}

// benchText are the parts of the bench that grow with the ports.
type benchText struct {
	decl, pins, start, drive, look, after strings.Builder
	remaining                             []string
}

// icarusBench prints the bench: one process, which drives while the clock is low and looks just before it rises.
func (s *Spec) icarusBench(in Input) string {
	var t benchText
	t.kinds(in)
	for i, p := range s.In {
		t.input(fmt.Sprintf("i%d", i), p, in.Frames*in.InBeats[i], in.InBeats[i], pick(in.Idle, i).Percent)
	}
	for i, p := range s.Out {
		t.output(fmt.Sprintf("o%d", i), p, in.beatsOut(i), pick(in.Back, i).Percent)
	}
	for _, w := range s.wires() {
		for _, signal := range []string{"data", "valid", "ready"} {
			fmt.Fprintf(&t.pins, ", .%s_%s(%s_%s)", w.id, signal, w.id, signal)
		}
		if w.port.Last != "" {
			fmt.Fprintf(&t.pins, ", .%s_last(%s_last)", w.id, w.id)
		}
	}
	maxIdle := in.MaxIdle
	if maxIdle == 0 {
		maxIdle = 1_000_000
	}
	return fmt.Sprintf(icarusFrame, int32(in.Seed), &t.decl, wrapperName, &t.pins, &t.start,
		strings.Join(t.remaining, " || "), &t.drive, &t.look, &t.after, maxIdle)
}

// kinds adds what is special about frames: for each its kind in the low bits, and above them the frames that come out
// before it. due says that the next beat of an input, of so many beats a frame, need not wait for them.
func (t *benchText) kinds(in Input) {
	if in.Kinds == nil {
		t.decl.WriteString("  function due(input integer at, input integer frame);\n    due = 1;\n  endfunction\n" +
			"  function closes(input integer at);\n    closes = 1;\n  endfunction\n")
		return
	}
	fmt.Fprintf(&t.decl, "  reg [35:0] kinds [0:%d];\n  function closes(input integer at);\n    closes = kinds[at][0];\n"+
		"  endfunction\n  function due(input integer at, input integer frame);\n"+
		"    due = at %% frame != 0 || !kinds[at / frame][2]", in.Frames-1)
	for i, beats := range in.OutBeats {
		fmt.Fprintf(&t.decl, "%s o%d_at >= kinds[at / frame][35:4] * %d", []string{" || (", " && "}[min(i, 1)], i, beats)
	}
	t.decl.WriteString(");\n  endfunction\n")
	t.start.WriteString("    $readmemh(\"kinds.hex\", kinds);\n")
}

// input adds an input port that sends n beats.
func (t *benchText) input(id string, p Port, n, perFrame, idle int) {
	r := strings.NewReplacer("$id", id, "$msb", fmt.Sprint(p.Width-1), "$top", fmt.Sprint(8*p.Bytes()-1), "$end",
		fmt.Sprint(max(n-1, 0)), "$n", fmt.Sprint(n), "$stall", fmt.Sprint(idle), "$frame", fmt.Sprint(perFrame))
	r.WriteString(&t.decl, `  reg [$msb:0] $id_data = 0;
  reg [$top:0] $id_mem [0:$end];
  reg $id_valid = 0, $id_last = 0, $id_taken;
  wire $id_ready;
  integer $id_at = 0;
`)
	r.WriteString(&t.start, `    $readmemh("$id.hex", $id_mem);
`)
	r.WriteString(&t.drive, `      if (!$id_valid && $id_at < $n && due($id_at, $frame) &&
          {$random(seed)} % 100 >= $stall) begin
        $id_valid = 1;
        $id_data = $id_mem[$id_at][$msb:0];
        $id_last = ($id_at + 1) % $frame == 0 && closes($id_at / $frame);
      end
`)
	r.WriteString(&t.look, `      $id_taken = $id_valid && $id_ready === 1'b1;
      moved = moved | $id_taken;
`)
	r.WriteString(&t.after, `      if ($id_taken) begin
        $id_valid = 0;
        $id_data = 'bx;
        $id_at = $id_at + 1;
      end
`)
	t.remaining = append(t.remaining, fmt.Sprintf("%s_at < %d", id, n))
}

// output adds an output port that takes n beats.
func (t *benchText) output(id string, p Port, n, back int) {
	r := strings.NewReplacer("$id", id, "$msb", fmt.Sprint(p.Width-1), "$back", fmt.Sprint(back),
		"$n", fmt.Sprint(n))
	r.WriteString(&t.decl, `  wire [$msb:0] $id_data;
  wire $id_valid, $id_last;
  reg $id_ready = 0;
  integer $id_at = 0;
`)
	r.WriteString(&t.drive, `      $id_ready = {$random(seed)} % 100 >= $back;
`)
	r.WriteString(&t.look, `      if ($id_valid !== 1'b0 && $id_ready && $id_at < $n) begin
        if ($id_valid === 1'b1) $fdisplay(file, "$id %h", $id_data);
        else $fdisplay(file, "$id_valid is unknown");
        $id_at = $id_at + 1;
        moved = 1;
      end
`)
	t.remaining = append(t.remaining, fmt.Sprintf("%s_at < %d", id, n))
}

const icarusFrame = `module lathe_bench;
  reg clk = 0, rst = 1, moved;
  integer seed = %d, file, quiet = 0;
%s  %s top (.clk(clk), .rst(rst)%s);
  initial begin
    file = $fopen("result.txt", "w");
%s    repeat (4) begin
      #5 clk = 1;
      #5 clk = 0;
    end
    rst = 0;
    while (%s) begin
%s      #4 moved = 0;
%s      #1 clk = 1;
      #1;
%s      #4 clk = 0;
      quiet = moved ? 0 : quiet + 1;
      if (quiet > %d) begin
        $fdisplay(file, "deadlock: nothing moves any more");
        $fclose(file);
        $finish;
      end
    end
    $fdisplay(file, "end");
    $fclose(file);
    $finish;
  end
endmodule
`
