// SPDX-License-Identifier: Apache-2.0

package target

import (
	"math"
	"slices"
	"strings"
	"testing"

	"lathe/internal/diag"
)

// TestShells: each board has a device that open tools pack, a site for every signal, no site twice, a usual clock that
// its PLL makes and its line can be sampled with, and constraints for all ports.
func TestShells(t *testing.T) {
	for _, b := range Boards() {
		d, err := b.Device()
		if err != nil || d.Family.Router == nil || d.Family.Router.Pack == "" {
			t.Errorf("%s: device %s, %v", b.Name, b.Part, err)
			continue
		}
		var sites []string
		for _, s := range b.Signals() {
			sites = append(sites, s.Site)
		}
		slices.Sort(sites)
		if slices.Contains(sites, "") || len(slices.Compact(slices.Clone(sites))) != len(sites) {
			t.Errorf("%s: sites %q", b.Name, sites)
		}
		if s, ok := b.PLL.Nearest(b.Oscillator, b.Clock); !ok || s.MHz != b.Clock || b.Clock*1e6 < 8*float64(b.Baud) {
			t.Errorf("%s: %+v for %g MHz", b.Name, s, b.Clock)
		}
		text, err := b.Constraints()
		if err != nil {
			t.Fatal(err)
		}
		ports := 0
		for line := range strings.Lines(string(text)) {
			if m := d.Family.Router.Port.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
				ports++
			}
		}
		if ports < len(sites) {
			t.Errorf("%s: %d ports in the constraints, want %d\n%s", b.Name, ports, len(sites), text)
		}
		if found, err := FindBoard(strings.ToUpper(b.Name)); err != nil || found.Name != b.Name {
			t.Errorf("%s: %v", b.Name, err)
		}
		if board(b.Name) != d.Name {
			t.Errorf("%s: Find knows it as a board with %q", b.Name, board(b.Name))
		}
	}
	if _, err := FindBoard("ulx3s-12f"); diag.CodeOf(err) != diag.UnknownBoard ||
		!strings.Contains(err.Error(), "did you mean ulx3s-85f") {
		t.Error(err)
	}
}

// TestPLL: settings by hand, and every setting keeps to the limits of its PLL.
func TestPLL(t *testing.T) {
	for _, c := range []struct {
		pll      *PLL
		in, want float64
		setting  Setting
	}{
		{ecp5PLL, 25, 75, Setting{Ref: 1, Back: 3, Post: 8, In: 25, Loop: 600, MHz: 75}},
		{ecp5PLL, 25, 50, Setting{Ref: 1, Back: 2, Post: 12, In: 25, Loop: 600, MHz: 50}},
		{ecp5PLL, 25, 900, Setting{Ref: 1, Back: 16, Post: 1, In: 25, Loop: 400, MHz: 400}},
		{ice40PLL, 12, 24, Setting{Ref: 1, Back: 64, Post: 32, In: 12, Loop: 768, MHz: 24}},
		{ice40PLL, 12, 5, Setting{Ref: 1, Back: 86, Post: 64, In: 12, Loop: 1032, MHz: 16.125}},
	} {
		if s, ok := c.pll.Nearest(c.in, c.want); !ok || s != c.setting {
			t.Errorf("%s, %g of %g MHz: %+v, want %+v", c.pll.Cell, c.want, c.in, s, c.setting)
		}
	}
	for _, pll := range []*PLL{ecp5PLL, ice40PLL} {
		for want := 20.0; want < 270; want += 7.3 {
			s, ok := pll.Nearest(25, want)
			loop := s.In / float64(s.Ref) * float64(s.Back)
			if pll.Behind {
				loop *= float64(s.Post)
			}
			if !ok || math.Abs(s.MHz-want) > want/20 || math.Abs(loop-s.Loop) > 1e-9 || loop < pll.Loop[0] ||
				loop > pll.Loop[1] {
				t.Errorf("%s: %+v for %g MHz", pll.Cell, s, want)
			}
		}
	}
}

// TestConstraints: sites and pulls as the makers of the boards give them.
func TestConstraints(t *testing.T) {
	for name, lines := range map[string][]string{
		"ulx3s-85f": {`LOCATE COMP "rx" SITE "M1";`, `IOBUF PORT "rx" IO_TYPE=LVCMOS33 PULLMODE=UP;`,
			`LOCATE COMP "tx" SITE "L4";`, `IOBUF PORT "tx" IO_TYPE=LVCMOS33 PULLMODE=NONE;`,
			`LOCATE COMP "button" SITE "R1";`, `IOBUF PORT "button" IO_TYPE=LVCMOS33 PULLMODE=DOWN;`,
			`FREQUENCY PORT "clk" 25 MHZ;`},
		"icebreaker": {"set_io clk 35", "set_io rx 6", "set_io tx 9", "set_io button 10", "set_frequency clk 12"},
	} {
		b, err := FindBoard(name)
		if err != nil {
			t.Fatal(err)
		}
		text, err := b.Constraints()
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range lines {
			if !strings.Contains("\n"+string(text), "\n"+line+"\n") {
				t.Errorf("%s: no %q in\n%s", name, line, text)
			}
		}
	}
}
