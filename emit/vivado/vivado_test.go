// SPDX-License-Identifier: Apache-2.0

package vivado

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"lathe/emit"
	"lathe/internal/tools"
	"lathe/rtl"
)

// design is one with two inputs and one output, and files without content.
func design() *emit.Design {
	return &emit.Design{Name: "net", Top: "net", Core: "net_core", Version: "test", Part: "xc7a35tcpg236-1", ClockMHz: 300,
		Ports: []emit.Port{{Stream: "s_axis_0", Input: true}, {Stream: "s_axis_1", Input: true}, {Stream: "m_axis"}},
		Files: []rtl.File{{Name: "op_add.sv"}, {Name: "net_core.sv"}, {Name: "net.v"}, {Name: "fc_weights.mem"}}}
}

// write puts the design and its scripts into a new folder.
func write(t *testing.T, d *emit.Design) string {
	t.Helper()
	files, err := Files(d)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "a design")
	for _, f := range append(files, d.Files...) {
		path := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// record runs a script and returns the commands for Vivado, one a line. critical is the number of critical warnings
// that Vivado claims to have seen.
func record(t *testing.T, cwd, critical, script string, args ...string) ([]string, error) {
	t.Helper()
	tools.Need(t, "tclsh")
	recorder, err := filepath.Abs("testdata/record.tcl")
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), "tclsh", append([]string{recorder, critical, script}, args...)...)
	c.Dir = cwd
	var said strings.Builder
	c.Stderr = &said
	out, err := c.Output()
	t.Logf("%s%s", out, &said)
	return strings.Split(strings.TrimSpace(string(out)), "\n"), err
}

// steps are the first words of the commands, without repetitions.
func steps(commands []string) string {
	var names []string
	for _, c := range commands {
		name, _, _ := strings.Cut(c, " ")
		if len(names) == 0 || names[len(names)-1] != name {
			names = append(names, name)
		}
	}
	return strings.Join(names, " ")
}

// paths are the words of the commands of one name that are files, without the braces of names with spaces.
func paths(commands []string, name string) []string {
	var found []string
	for _, c := range commands {
		if rest, ok := strings.CutPrefix(c, name+" "); ok {
			_, file, _ := strings.Cut(rest, "/")
			found = append(found, "/"+strings.TrimSuffix(file, "}"))
		}
	}
	return found
}

const reports = "report_utilization report_timing_summary report_drc write_checkpoint "

// TestSynth runs the script from another folder, and again after a move: every file is read once, from where it lies
// now, and the steps stand in their order.
func TestSynth(t *testing.T) {
	d := design()
	dir := write(t, d)
	moved := filepath.Join(t.TempDir(), "moved")
	for _, at := range []string{dir, moved} {
		if at == moved {
			if err := os.Rename(dir, moved); err != nil {
				t.Fatal(err)
			}
		}
		commands, err := record(t, t.TempDir(), "0", filepath.Join(at, "vivado", "synth.tcl"))
		if err != nil {
			t.Fatal(err)
		}
		want := "read_verilog read_mem read_xdc synth_design " + reports + "get_msg_config opt_design place_design " +
			"phys_opt_design route_design " + reports + "get_msg_config get_timing_paths get_property worst"
		if got := steps(commands); got != want {
			t.Errorf("steps\n%s, want\n%s", got, want)
		}
		var read []string
		for _, path := range append(paths(commands, "read_verilog"), paths(commands, "read_mem")...) {
			if _, err := os.Stat(path); err != nil || !strings.HasPrefix(path, at) {
				t.Errorf("%s: %v", path, err)
			}
			read = append(read, filepath.Base(path))
		}
		if !slices.Equal(read, append(d.Sources(), d.Images()...)) {
			t.Errorf("read %q", read)
		}
		if xdc := paths(commands, "read_xdc -mode out_of_context"); len(xdc) != 1 ||
			xdc[0] != filepath.Join(at, "vivado", "net.xdc") {
			t.Errorf("constraints %q", xdc)
		}
		for _, path := range paths(commands, "report_drc") {
			if filepath.Dir(path) != filepath.Join(at, "vivado", "build") {
				t.Errorf("a report goes to %s", path)
			}
		}
		for _, c := range commands {
			if strings.HasPrefix(c, "read_verilog -sv") != (strings.HasPrefix(c, "read_verilog") && strings.Contains(c, ".sv")) {
				t.Errorf("language of %s", c)
			}
			if strings.HasPrefix(c, "synth_design") &&
				c != "synth_design -top net -part xc7a35tcpg236-1 -mode out_of_context -flatten_hierarchy rebuilt" {
				t.Error(c)
			}
		}
	}
}

// TestSynthFails demands status 1 of critical warnings and of an incomplete folder; synthesis alone stops early.
func TestSynthFails(t *testing.T) {
	dir := write(t, design())
	script := filepath.Join(dir, "vivado", "synth.tcl")
	for _, name := range []string{"synth.tcl", "package_ip.tcl"} {
		if _, err := record(t, dir, "2", filepath.Join(dir, "vivado", name)); err == nil {
			t.Errorf("%s: two critical warnings, and status 0", name)
		}
	}
	commands, err := record(t, dir, "0", script, "synthesis")
	if err != nil || strings.Contains(steps(commands), "place_design") {
		t.Errorf("synthesis alone: %v, %s", err, steps(commands))
	}
	if err := os.Remove(filepath.Join(dir, "fc_weights.mem")); err != nil {
		t.Fatal(err)
	}
	if commands, err := record(t, dir, "0", script); err == nil || strings.Contains(steps(commands), "synth_design") {
		t.Errorf("an image is missing: %v, %s", err, steps(commands))
	}
}

// TestPackage maps every port of the wrapper exactly once, and ties streams to the clock.
func TestPackage(t *testing.T) {
	dir := write(t, design())
	commands, err := record(t, "/", "0", filepath.Join(dir, "vivado", "package_ip.tcl"))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(commands, "\n")
	for _, s := range []string{"s_axis_0", "s_axis_1", "m_axis"} {
		for _, signal := range []string{"tdata", "tvalid", "tready", "tlast"} {
			if n := strings.Count(text, "set_property physical_name "+s+"_"+signal+" "); n != 1 {
				t.Errorf("%s_%s is mapped %d times", s, signal, n)
			}
		}
		if n := strings.Count(text, "ipx::associate_bus_interfaces -busif "+s+" -clock ap_clk"); n != 1 {
			t.Errorf("%s is tied to the clock %d times", s, n)
		}
	}
	for _, want := range []string{"set_property physical_name ap_clk ", "set_property physical_name ap_rst_n ",
		"set_property value ACTIVE_LOW ", "-clock ap_clk -reset ap_rst_n", "ipx::package_project -root_dir {" + dir +
			"/vivado/build/ip}", "ipx::save_core", "create_project -in_memory -part xc7a35tcpg236-1"} {
		if strings.Count(text, want) != 1 {
			t.Errorf("%d times %q", strings.Count(text, want), want)
		}
	}
	slaves, masters := strings.Count(text, "mode slave"), strings.Count(text, "mode master")
	if slaves != 4 || masters != 1 { // two inputs, clock and reset; one output
		t.Errorf("%d slaves and %d masters", slaves, masters)
	}
}

// TestClock runs the constraints, and a part whose name would be a command.
func TestClock(t *testing.T) {
	d := design()
	d.Part = "xc7a35t[exit 7];$x {"
	dir := write(t, d)
	commands, err := record(t, dir, "0", filepath.Join(dir, "vivado", "net.xdc"))
	if want := "create_clock -name ap_clk -period 3.333 <get_ports>"; err != nil || commands[len(commands)-1] != want {
		t.Errorf("%v: %q, want %q", err, commands, want)
	}
	if commands, err := record(t, dir, "0", filepath.Join(dir, "vivado", "synth.tcl")); err != nil ||
		!strings.Contains(strings.Join(commands, "\n"), `-part xc7a35t\[exit\ 7\]\;\$x\ \{`) {
		t.Errorf("a foreign part: %v", err)
	}
}

// TestTwoClocks runs the constraints of a design with two clocks. Registers that they name are those of the library.
func TestTwoClocks(t *testing.T) {
	d := design()
	d.StreamMHz = 100
	dir := write(t, d)
	commands, err := record(t, dir, "0", filepath.Join(dir, "vivado", "net.xdc"))
	text := strings.Join(commands, "\n")
	for _, want := range []string{"create_clock -name ap_clk -period 10.000", "create_clock -name core_clk -period 3.333",
		"set_bus_skew"} {
		if err != nil || !strings.Contains(text, want) {
			t.Errorf("%v: %s, want %q", err, text, want)
		}
	}
	files, err := rtl.Files("stream_cross", "stream_restart")
	if err != nil {
		t.Fatal(err)
	}
	var registers []string
	for _, f := range files {
		for line := range strings.Lines(string(f.Data)) {
			if _, names, ok := strings.Cut(strings.TrimSuffix(strings.TrimSpace(line), ";"), "reg "); ok {
				registers = append(registers, regexp.MustCompile(`\w+`).FindAllString(names, -1)...)
			}
		}
	}
	named := regexp.MustCompile(`(\w+|\(\w+\|\w+\)\w+)_reg`).FindAllStringSubmatch(text, -1)
	if len(named) < 5 {
		t.Errorf("%d registers are named", len(named))
	}
	for _, m := range named {
		one := regexp.MustCompile("^" + m[1] + "$")
		if !slices.ContainsFunc(registers, one.MatchString) {
			t.Errorf("the library has no register %s: %q", m[1], registers)
		}
	}
}
