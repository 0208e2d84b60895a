// SPDX-License-Identifier: Apache-2.0

// Package formaltest proves modules of the library: properties of streams in a number of cycles with the model checker
// of ABC, by induction with yosys-smtbmc and z3; formulas of arithmetic with the SAT solver of Yosys. A proof holds for
// every input, in contrast to a bench; and a mutant of each module must be refuted, in contrast to a proof of nothing.
package formaltest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"lathe/internal/tools"
	"lathe/rtl"
)

// Proof is a module with properties.
type Proof struct {
	Module string
	Params []rtl.Param
	// Properties is the text of assertions, assumptions and cover statements. It becomes part of the module, flattened, so
	// that it reads registers by their names in generate blocks and instances: \queue.used , \u_skid.out_valid .
	Properties string
	// Depth is the number of cycles of the bounded proof, and in which everything covered must be reached.
	Depth int
	// Induct is the number of cycles that the proof by induction looks back; 0: there is only the bounded proof.
	Induct int
	// Free are modules whose outputs take any values: arithmetic and tables, where properties are about the beats
	// around them.
	Free []string
	// Clocks are those of a module with several, which then tick at any times, also at once: in every step of the proof
	// each may tick or not, as the wires f_tick_<clock> say.
	Clocks []string
	// Small are texts in whose place others stand, in the mutant too: the same control with less waiting, so that what
	// takes a division or a root is seen within few cycles.
	Small []Mutant
}

// Mutant is a text of a module of the library and what stands in its place.
type Mutant struct{ Module, Old, New string }

// files are the sources of a module, one of them changed if there is a mutant.
func files(t *testing.T, module string, m *Mutant) []rtl.File {
	t.Helper()
	all, err := rtl.Files(module)
	if err != nil {
		t.Fatal(err)
	}
	if m == nil {
		return all
	}
	return replace(t, all, m)
}

// replace is the sources with one of them changed.
func replace(t *testing.T, all []rtl.File, m *Mutant) []rtl.File {
	t.Helper()
	all = slices.Clone(all)
	for i, f := range all {
		if f.Name == m.Module+".sv" {
			text := string(f.Data)
			if strings.Count(text, m.Old) != 1 {
				t.Fatalf("%s holds %q %d times", f.Name, m.Old, strings.Count(text, m.Old))
			}
			all[i].Data = []byte(strings.Replace(text, m.Old, m.New, 1))
			return all
		}
	}
	t.Fatalf("no file is of %s", m.Module)
	return nil
}

// put writes files into a folder of the test and returns it, and the names of the sources.
func put(t *testing.T, files []rtl.File) (dir, sources string) {
	t.Helper()
	dir = t.TempDir()
	var names []string
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(dir, f.Name), f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
		names = append(names, f.Name)
	}
	return dir, strings.Join(names, " ")
}

// run starts a tool and returns what it printed, and whether it ended with success.
func run(ctx context.Context, dir, name string, args ...string) (string, bool) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	return string(out), err == nil
}

// yosys runs a script that must neither fail nor invent a wire for a name that it does not know.
func yosys(t *testing.T, dir, script string) {
	t.Helper()
	if out, ok := run(t.Context(), dir, "yosys", "-q", "-p", script); !ok || strings.Contains(out, "implicitly declared") {
		t.Fatalf("yosys -p %q\n%s", script, out)
	}
}

// unnamed are the names that generate regions without one get.
var unnamed = regexp.MustCompile(`\\genblk\d+\.`)

// body is what stands between the ports of a module and its end.
var body = regexp.MustCompile(`(?s)(\nmodule .*?\n\);)\n.*\nendmodule\n`)

// model writes dir/proof.sv, the flattened module with its properties.
func (p Proof) model(t *testing.T, m *Mutant) (dir string) {
	t.Helper()
	all := files(t, p.Module, m)
	for i := range p.Small {
		all = replace(t, all, &p.Small[i])
	}
	all = slices.Clone(all)
	for i := range all {
		if slices.Contains(p.Free, strings.TrimSuffix(all[i].Name, ".sv")) {
			all[i].Data = []byte(body.ReplaceAllString(string(all[i].Data), "$1\n  wire not_empty = 1'b0;\nendmodule\n"))
		}
	}
	dir, sources := put(t, all)
	script := "read_verilog -sv " + sources + "; hierarchy -check -top " + p.Module
	for _, q := range p.Params {
		script += " -chparam " + q.Name + " " + q.Value
	}
	yosys(t, dir, script+"; proc; flatten; rename -top proof; write_verilog -noattr flat.v")
	flat, err := os.ReadFile(filepath.Join(dir, "flat.v"))
	if err != nil {
		t.Fatal(err)
	}
	text := p.ticks(unnamed.ReplaceAllString(string(flat), `\`))
	write(t, filepath.Join(dir, "proof.sv"), text[:strings.LastIndex(text, "endmodule")]+p.Properties+"\nendmodule\n")
	return dir
}

// ticks puts conditions on one clock in the place of several.
func (p Proof) ticks(text string) string {
	for _, clock := range p.Clocks {
		step := fmt.Sprintf("@(posedge %s) if (f_tick_%s)", p.Clocks[0], clock)
		text = strings.ReplaceAll(text, "@(posedge "+clock+")", step)
		text = strings.Replace(text, ");\n", fmt.Sprintf(");\n  (* anyseq *) wire f_tick_%s;\n", clock), 1)
	}
	return text
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// registers is the script that leaves a model of registers and memories without resets.
const registers = "; proc; setundef -undriven -anyseq; prep -top proof -flatten -nordff; async2sync"

// Verdicts of ABC's bounded model checker.
var (
	asserted = regexp.MustCompile(`Output \d+ .*was asserted in frame +(\d+)`)
	holds    = regexp.MustCompile(`No output asserted in (\d+) frames`)
)

// check looks for what refutes an assertion of dir/name.sv within depth cycles, and returns in which cycle each of
// those that it finds is refuted: of all if so asked, else the first. Assertions become outputs of gates.
func check(t *testing.T, dir, name string, depth int, all string) (cycles []int) {
	t.Helper()
	yosys(t, dir, "read_verilog -sv -formal "+name+".sv"+registers+"; chformal -cover -remove; delete -output; "+
		"opt_clean; memory_map; opt -fast; techmap; dffunmap; opt_clean; abc -g AND -fast; opt_clean; "+
		"write_aiger -zinit -map "+name+".aim "+name+".aig")
	out, ok := run(t.Context(), dir, "yosys-abc", "-c",
		fmt.Sprintf("read_aiger %s.aig; fold; strash; bmc3 %s -F %d", name, all, depth))
	for _, m := range asserted.FindAllStringSubmatch(out, -1) {
		n, err := strconv.Atoi(m[1])
		if err != nil {
			t.Fatal(err)
		}
		cycles = append(cycles, n)
	}
	if h := holds.FindStringSubmatch(out); !ok || h == nil && cycles == nil || h != nil && h[1] != fmt.Sprint(depth) {
		t.Fatalf("no verdict on %s:\n%s", name, tail(out))
	}
	return cycles
}

// smtbmc is the verdict of yosys-smtbmc: passed, or failed with a trace. Anything else ends the test.
func smtbmc(t *testing.T, dir string, args ...string) (passed bool, out string) {
	t.Helper()
	yosys(t, dir, "read_verilog -sv -formal proof.sv"+registers+"; dffunmap; write_smt2 -wires model.smt2")
	out, _ = run(t.Context(), dir, "yosys-smtbmc", append(append([]string{"-s", "z3"}, args...), "model.smt2")...)
	switch {
	case strings.Contains(out, "Status: PASSED"):
		return true, out
	case strings.Contains(out, "Status: FAILED"):
		return false, out
	}
	t.Fatalf("yosys-smtbmc %v\n%s", args, out)
	return false, ""
}

var covered = regexp.MustCompile(`(?m)\bcover \((.*)\);$`)

// Prove demands that every assertion holds, in Depth cycles from the start and by induction in all, and that everything
// covered can happen: assumptions that leave nothing to check would prove anything.
func (p Proof) Prove(t *testing.T) {
	t.Helper()
	tools.Need(t, "yosys", "yosys-abc", "yosys-smtbmc", "z3")
	dir := p.model(t, nil)
	if at := check(t, dir, "proof", p.Depth, ""); at != nil {
		run(t.Context(), dir, "yosys-abc", "-c",
			fmt.Sprintf("read_aiger proof.aig; fold; strash; bmc3 -F %d; write_cex -a proof.aiw", p.Depth))
		_, out := smtbmc(t, dir, "--noprogress", "--aig-noheader", "--aig", "proof")
		t.Fatalf("refuted in cycle %d:\n%s", at[0], tail(out))
	}
	if p.Induct > 0 {
		if ok, out := smtbmc(t, dir, "-i", "-t", fmt.Sprint(p.Induct)); !ok {
			t.Errorf("induction fails:\n%s", tail(out))
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "proof.sv"))
	if err != nil {
		t.Fatal(err)
	}
	never := strings.ReplaceAll(string(text), "assert (", "assume (") // as was proven
	write(t, filepath.Join(dir, "never.sv"), covered.ReplaceAllString(never, "assert (!($1));"))
	want := len(covered.FindAllString(never, -1))
	if at := check(t, dir, "never", p.Depth, "-a"); len(at) != want || want == 0 {
		t.Errorf("of %d covered, %d happen, in cycles %v", want, len(at), at)
	}
}

// Refute demands that an assertion fails for the mutant, in Depth cycles from the start.
func (p Proof) Refute(t *testing.T, m Mutant) {
	t.Helper()
	tools.Need(t, "yosys", "yosys-abc")
	if check(t, p.model(t, &m), "proof", p.Depth, "") == nil {
		t.Errorf("with %q in place of %q nothing is refuted", m.New, m.Old)
	}
}

// tail keeps the end of a long output.
func tail(out string) string {
	lines := strings.Split(strings.TrimSpace(out), "\n")
	return strings.Join(lines[max(0, len(lines)-15):], "\n")
}

// Formula is combinational logic that is proven for all inputs.
type Formula struct {
	Module string // of the library; the text instantiates it
	// Text is a module "formula" with inputs and an output "bad", which is never 1.
	Text string
}

var assigned = regexp.MustCompile(`(?m)^SAT proof finished - (no )?model found`)

// sat is the verdict of Yosys' SAT solver.
func (f Formula) sat(t *testing.T, m *Mutant) bool {
	t.Helper()
	tools.Need(t, "yosys")
	all := append(slices.Clone(files(t, f.Module, m)), rtl.File{Name: "formula.sv", Data: []byte(f.Text)})
	dir, sources := put(t, all)
	out, _ := run(t.Context(), dir, "yosys", "-p", "read_verilog -sv "+sources+
		"; hierarchy -check -top formula; proc; flatten; opt; sat -set-def-inputs -prove bad 0")
	found := assigned.FindStringSubmatch(out)
	if found == nil || strings.Contains(out, "implicitly declared") {
		t.Fatalf("no verdict:\n%s", tail(out))
	}
	return found[1] != ""
}

// Prove demands that the formula holds.
func (f Formula) Prove(t *testing.T) {
	t.Helper()
	if !f.sat(t, nil) {
		t.Errorf("refuted:\n%s", f.Text)
	}
}

// Refute demands that it does not hold for the mutant.
func (f Formula) Refute(t *testing.T, m Mutant) {
	t.Helper()
	if f.sat(t, &m) {
		t.Errorf("with %q in place of %q nothing is refuted", m.New, m.Old)
	}
}
