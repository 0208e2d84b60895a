// SPDX-License-Identifier: Apache-2.0

package paths

import (
	"fmt"
	"strings"
	"testing"
)

// net prints a flat netlist of cells, one a line: type, then port=bits, bits apart by commas. Ports that begin with '
// are outputs; a word with a colon is a parameter.
func net(lines ...string) string {
	var cells []string
	for i, line := range lines {
		words := strings.Fields(line)
		var parameters, directions, bits []string
		for _, w := range words[1:] {
			if name, value, ok := strings.Cut(w, ":"); ok {
				parameters = append(parameters, fmt.Sprintf("%q:%q", name, value))
				continue
			}
			name, list, _ := strings.Cut(w, "=")
			direction := "input"
			if rest, ok := strings.CutPrefix(name, "'"); ok {
				name, direction = rest, "output"
			}
			directions = append(directions, fmt.Sprintf("%q:%q", name, direction))
			bits = append(bits, fmt.Sprintf("%q:[%s]", name, list))
		}
		cells = append(cells, fmt.Sprintf(`"c%d":{"type":%q,"parameters":{%s},"port_directions":{%s},"connections":{%s}}`, i,
			words[0], strings.Join(parameters, ","), strings.Join(directions, ","), strings.Join(bits, ",")))
	}
	return `{"modules":{"top":{"ports":{"in":{"direction":"input","bits":[2,3]},` +
		`"out":{"direction":"output","bits":[90]}},"cells":{` + strings.Join(cells, ",") +
		`},"netnames":{"in":{"hide_name":0,"bits":[2,3]},"out":{"hide_name":0,"bits":[90]},` +
		`"q":{"hide_name":0,"bits":[50]}}}}}`
}

func TestLongest(t *testing.T) {
	for _, c := range []struct {
		name  string
		cells []string
		want  Levels
		path  string // of LUTs
	}{
		{"port to port", []string{"LUT2 I0=2 I1=3 'O=4", "LUT1 I0=4 'O=90"}, Levels{LUT: 2}, "in[0] -> out"},
		{"a register cuts", []string{"LUT2 I0=2 I1=3 'O=4", `FDRE C=5 CE="1" D=4 R="0" 'Q=50`, "INV I=50 'O=90"},
			Levels{LUT: 1}, "in[0] -> q"},
		{"an enable is an end", []string{"LUT1 I0=2 'O=4", "LUT1 I0=4 'O=6", `FDRE C=5 CE=6 D="0" R="0" 'Q=50`},
			Levels{LUT: 2}, "in[0] -> q"},
		{"a chain counts once", []string{
			`CARRY4 CI="0" CYINIT="0" DI=2,2,2,2 S=3,3,3,3 'O=10,11,12,13 'CO=14,15,16,17`,
			`CARRY4 CI=17 CYINIT="0" DI=2,2,2,2 S=3,3,3,3 'O=20,21,22,90 'CO=24,25,26,27`}, Levels{Carry: 1}, ""},
		{"a sum of sums counts twice", []string{
			`CARRY4 CI="0" CYINIT="0" DI=2,2,2,2 S=3,3,3,3 'O=10,11,12,13 'CO=14,15,16,17`,
			`CARRY4 CI="0" CYINIT="0" DI=10,2,2,2 S=3,3,3,3 'O=20,21,22,90 'CO=24,25,26,27`}, Levels{Carry: 2}, ""},
		{"carries go upward", []string{ // bit 3 reaches no lower bit, so this is no loop
			`CARRY4 CI="0" CYINIT="0" DI=2,2,2,2 S=3,3,3,4 'O=10,11,12,90 'CO=14,15,16,17`, "LUT1 I0=10 'O=4"},
			Levels{LUT: 1, Carry: 2}, "in[1] -> out"},
		{"a lane of a memory", []string{"LUT1 I0=2 'O=4", "LUT1 I0=4 'O=6",
			"RAM32M ADDRA=6 ADDRD=2 DIA=4 'DOA=90 'DOD=7"}, Levels{LUT: 3}, "in[0] -> out"},
		{"the other lane", []string{"LUT1 I0=2 'O=4", "LUT1 I0=4 'O=6",
			"RAM32M ADDRA=6 ADDRD=2 DIA=4 'DOA=7 'DOD=90"}, Levels{LUT: 2}, ""},
		{"a memory's data are an end", []string{"LUT1 I0=2 'O=4", "RAM32M ADDRA=2 ADDRD=2 DIA=4 'DOA=7 'DOD=90"},
			Levels{LUT: 1}, ""},
		{"a product", []string{"LUT1 I0=2 'O=4", "DSP48E2 A=4 B=3 'P=5 AREG:0 BREG:0 MREG:0 PREG:0", "LUT1 I0=5 'O=90"},
			Levels{LUT: 2, DSP: 1}, "in[0] -> out"},
		{"a product in a register", []string{"LUT1 I0=2 'O=4", "DSP48E2 A=4 B=3 'P=5 AREG:0 BREG:01 MREG:1 PREG:0",
			"LUT1 I0=5 'O=90"}, Levels{LUT: 1, Carry: 1, DSP: 1}, ""},
		{"registers all the way", []string{"LUT1 I0=2 'O=4", "DSP48E2 A=4 B=3 'P=90"}, Levels{LUT: 1}, "in[0] -> out"},
		{"operands in registers", []string{"DSP48E2 A=2 'P=5 MREG:0 PREG:0", "LUT1 I0=5 'O=90"}, Levels{LUT: 1, DSP: 1}, ""},
		{"a cascade", []string{"DSP48E2 A=2 B=2 'PCOUT=5 AREG:0 MREG:0 PREG:0", "DSP48E2 PCIN=5 'P=90"},
			Levels{Carry: 1, DSP: 1}, ""},
		{"an addend in a register", []string{"LUT1 I0=2 'O=4", "DSP48E2 C=4 'P=90 CREG:1 PREG:0"},
			Levels{LUT: 1, Carry: 1}, ""},
	} {
		n, err := Read(strings.NewReader(net(c.cells...)), "top")
		if err != nil {
			t.Fatal(c.name, err)
		}
		l, err := n.Longest()
		if err != nil {
			t.Fatal(c.name, err)
		}
		if path := strings.Join(l.Path[LUT], " -> "); l.Levels != c.want || c.path != "" && path != c.path {
			t.Errorf("%s: %v through %s, want %v through %s", c.name, l.Levels, path, c.want, c.path)
		}
	}
}

func TestRefused(t *testing.T) {
	for want, text := range map[string]string{
		"c0: cell type FIFO36E2 is unknown":            net("FIFO36E2 'DO=90"),
		"a loop without a register goes through net 4": net("LUT2 I0=2 I1=5 'O=4", "LUT2 I0=4 I1=3 'O=5", "LUT1 I0=4 'O=90"),
	} {
		n, err := Read(strings.NewReader(text), "top")
		if err != nil {
			t.Fatal(err)
		}
		if _, err = n.Longest(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	for want, text := range map[string]string{"the netlist has no module top": `{"modules":{}}`,
		"the netlist cannot be read": `{"modules":`} {
		if _, err := Read(strings.NewReader(text), "top"); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestThrough(t *testing.T) {
	for want, cells := range map[string][]string{
		"map[out:[in]]": {"LUT2 I0=2 I1=50 'O=90", `FDRE C=5 CE="1" D=3 R="0" 'Q=50`},
		"map[]":         {"INV I=50 'O=90", `FDRE C=5 CE="1" D=3 R="0" 'Q=50`},
	} {
		n, err := Read(strings.NewReader(net(cells...)), "top")
		if err != nil {
			t.Fatal(err)
		}
		if through, err := n.Through(); err != nil || fmt.Sprint(through) != want {
			t.Errorf("%v, %v, want %s", through, err, want)
		}
	}
}

func TestLimit(t *testing.T) {
	l := Longest{Levels: Levels{7, 2, 2}, Path: [kinds][]string{{"a", "b"}, nil, {"c"}}}
	if over := l.Over(Limit); l.Levels.Within(Limit) || strings.Join(over, "; ") !=
		"7 LUTs in a row, at most 6: a -> b; 2 multipliers in a row, at most 1: c" {
		t.Errorf("%q", over)
	}
	if l.Levels = Limit; !l.Levels.Within(Limit) || l.Over(Limit) != nil {
		t.Error("the limit itself is refused")
	}
}
