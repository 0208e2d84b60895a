// SPDX-License-Identifier: Apache-2.0

//go:build long

package area

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"lathe/internal/tools"
	"lathe/rtl/cmvm/cmvmtest"
)

var update = flag.Bool("update", false, "write the section of docs/area.md on constant matrices")

// A duel is a product as alkaid makes it, and as rtl/cmvm does, within as many levels or with no bound.
type duel struct {
	constant
	peer  figures
	fused float64  // cells by alkaid's own estimate, where a tool fuses its adders
	ours  *figures // nil: none found of so few levels
}

// TestAlkaid compares with alkaid 0.8.2, which is used nowhere else. The table is a section of docs/area.md; -update
// writes it. Times vary: those on the page may be others.
func TestAlkaid(t *testing.T) {
	tools.Need(t, "yosys")
	python := tools.NeedAlkaid(t)
	var text strings.Builder
	text.WriteString(constantsHead)
	for _, bound := range []struct {
		title, dc string
	}{
		{"Without a bound on depth", "-1"},
		{"No deeper than alkaid with `hard_dc=2`", "2"},
	} {
		var duels []*duel
		for _, c := range constants {
			d := &duel{constant: c}
			d.alkaid(t, python, bound.dc)
			levels := 0.0
			if bound.dc != "-1" {
				levels = d.peer.Levels
			}
			d.ours = c.ours(t, levels)
			t.Logf("%s, hard_dc=%s: %+v fused %.0f, ours %+v", c, bound.dc, d.peer, d.fused, d.ours)
			duels = append(duels, d)
		}
		fmt.Fprintf(&text, "\n%s:\n\n%s", bound.title, table(duels))
	}
	section(t, "../../docs/area.md", "Constant matrices", text.String())
}

// section holds the part of a page below a title, up to the next one, to a text, or writes it there. Times in seconds
// may differ.
func section(t *testing.T, path, title, text string) {
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, have, found := strings.Cut(string(page), "\n## "+title+"\n")
	if !found {
		t.Fatalf("%s has no section %q", path, title)
	}
	have, after, more := strings.Cut(have, "\n## ")
	if more {
		after = "\n## " + after
	}
	if *update {
		if err := os.WriteFile(path, []byte(before+"\n## "+title+"\n"+text+after), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if timeless(have) != timeless(text) {
		t.Errorf("%s is not what is found: %s\n%s", path, title, text)
	}
}

var seconds = regexp.MustCompile(`\d+\.\d\d s|Slower to solve: .*`)

func timeless(text string) string { return seconds.ReplaceAllString(text, "") }

// alkaid fills in what the peer takes, in one thread.
func (d *duel) alkaid(t *testing.T, python, dc string) {
	dir := t.TempDir()
	matrix, err := json.Marshal(cmvmtest.Matrix(d.in, d.out, d.width))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "matrix.json"), matrix, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, "testdata/peer.py", filepath.Join(dir, "matrix.json"), dc, filepath.Join(dir, "peer"))
	cmd.Env = append(os.Environ(), "OMP_NUM_THREADS=1")
	cmd.Stderr = os.Stderr
	said, err := cmd.Output()
	if err != nil {
		t.Fatalf("alkaid: %v\n%s", err, said)
	}
	var estimate struct{ Seconds, Levels, Cost, Fused float64 }
	if err := json.Unmarshal(said, &estimate); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	d.peer = *mapped(t, filepath.Join(dir, "peer", "src"), []string{"peer.v", "logic0.v", "static/shift_adder.v",
		"static/negative.v"}, "peer")
	d.peer.Levels, d.peer.Seconds, d.fused = estimate.Levels, estimate.Seconds, estimate.Fused
}

// table has both beside each other, and names those in which alkaid is better.
func table(duels []*duel) string {
	var b strings.Builder
	b.WriteString("| matrix | LUT | alkaid | ratio | LUT and INV | alkaid | cells | alkaid | fused | levels | alkaid |" +
		" solved in | alkaid |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n")
	worse := map[string][]string{}
	for _, d := range duels {
		lose := func(what string, mine, peer float64) {
			if mine > peer {
				worse[what] = append(worse[what], d.String())
			}
		}
		o, p := d.ours, &d.peer
		if o == nil {
			worse["Not found in so few levels"] = append(worse["Not found in so few levels"], d.String())
			continue
		}
		lose("More LUTs", float64(o.LUT), float64(p.LUT))
		lose("More cells", float64(o.Cells), float64(p.Cells))
		lose("More cells than alkaid with fused adders", float64(o.Cells), d.fused)
		lose("Deeper", o.Levels, p.Levels)
		lose("Slower to solve", o.Seconds, p.Seconds)
		fmt.Fprintf(&b, "| %s | %d | %d | %.3f | %d | %d | %d | %d | %.0f | %s | %s | %.2f s | %.2f s |\n", d.constant,
			o.LUT, p.LUT, float64(o.LUT)/float64(p.LUT), o.LUT+o.INV, p.LUT+p.INV, o.Cells, p.Cells, d.fused,
			tenth(o.Levels), tenth(p.Levels), o.Seconds, p.Seconds)
	}
	b.WriteString("\nWhere alkaid is better:\n\n")
	for _, what := range []string{"Not found in so few levels", "More LUTs", "More cells",
		"More cells than alkaid with fused adders", "Deeper", "Slower to solve"} {
		list := "none"
		if len(worse[what]) == len(duels) {
			list = "all"
		} else if len(worse[what]) > 0 {
			list = strings.Join(worse[what], ", ")
		}
		fmt.Fprintf(&b, "- %s: %s\n", what, list)
	}
	return b.String()
}

func tenth(v float64) string { return strconv.FormatFloat(v, 'f', 1, 64) }

var constantsHead = strings.ReplaceAll(`
    make bench-alkaid

installs [alkaid](https://github.com/calad0i/alkaid) 0.8.2 (once called da4ml), has it and ~rtl/cmvm~ make products of
int8 inputs with constant matrices, without registers, maps both texts in one run by the same command
(~synth_xilinx -family xcup -flatten -nodsp -nowidelut~), and writes this section. Unrolled layers are such products
([unrolled.md](unrolled.md)). A linear congruence makes the coefficients. Both solve in one thread; times are of the
processor and vary, everything else repeats.

Cells are LUTs and the positions of carry chains that add a bare net to a carry, which Yosys counts as no LUT but a
device passes through one. "Fused" is alkaid's own estimate of its cells where pairs of adders become ternary ones:
Vivado does that, Yosys does not. A level is an adder, 1.1 and 0.025 for each cell after its first; alkaid's estimate
counts in the same unit.
`, "~", "`")
