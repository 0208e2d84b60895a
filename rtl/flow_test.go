// SPDX-License-Identifier: Apache-2.0

package rtl

import (
	"slices"
	"strings"
	"testing"

	"lathe/internal/diag"
)

// TestFlows evaluates the flow lines of all modules with streams, under their defaults.
func TestFlows(t *testing.T) {
	wires := []string{"stream_last", "stream_answer", "stream_check", "stream_group", "stream_follow", "stream_ungroup",
		"stream_frames", "axi_gate", "axi_unpack", "axi_pack"}
	for _, name := range Modules() {
		h, err := Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := h.Width("out_valid", map[string]int{"N": 2}); err != nil {
			continue
		}
		u := &Unit{Module: name}
		for _, p := range h.Ports {
			if !p.Output && strings.HasSuffix(p.Name, "_valid") {
				u.In = append(u.In, strings.TrimSuffix(p.Name, "_valid"))
			}
		}
		flow, err := u.Flow()
		if err != nil || len(flow) == 0 && !slices.Contains(wires, name) {
			t.Errorf("%s: %d stages, %v", name, len(flow), err)
		}
		for i, s := range flow {
			if s.Kind == StageSteps && s.Period < 1 || s.Kind == StageMemory && s.Period < 1 || s.Regs < 0 {
				t.Errorf("%s: stage %d is %+v", name, i, s)
			}
			for _, m := range s.Stores {
				if m.Frame < 1 || m.Places < 1 || m.Need(s.Period-1) != m.Frame {
					t.Errorf("%s: stage %d holds %+v", name, i, m)
				}
			}
		}
		if _, err := u.Front(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := u.Turns(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// flowOf reads a header with the given flow line.
func flowOf(t *testing.T, line string) (Flow, error) {
	t.Helper()
	const order = "order: row-major\n"
	text := strings.Replace(sample, order, order+"//   let: K = s / A % 2\n//   flow: "+line+"\n", 1)
	h, err := ReadHeader(File{Name: "sample.sv", Data: []byte(text)})
	if err != nil {
		return nil, err
	}
	env := h.scope([]Param{{Name: "A", Value: "3"}})
	h.derive(env)
	return h.flow(env, 2)
}

func TestFlowLine(t *testing.T) {
	flow, err := flowOf(t, "(A > 2 ? steps(2 * A, K ? 1 : 2, s % A == A - 1, B) : 0)"+
		" + memory(B, A, 9000, min(s, A) + 1, s / 2, 2, 1) + u_skid")
	if err != nil || len(flow) != 3 {
		t.Fatalf("%+v, %v", flow, err)
	}
	a, m := flow[0], flow[1]
	if a.Kind != StageSteps || a.Period != 6 || a.Regs != 6 || flow[2].Kind != StageSkid {
		t.Errorf("%+v", flow)
	}
	for s, want := range []Step{{Take: 2}, {Take: 2}, {Take: 2, Give: true}, {Take: 1}, {Take: 1}, {Take: 1, Give: true}} {
		if a.Step(s) != want {
			t.Errorf("step %d: %+v", s, a.Step(s))
		}
	}
	if held := m.Stores[0]; held.Places != 6 || held.Frame != 3 || m.Period != 9000 || m.Late != 1 || held.Need(2) != 3 ||
		held.Need(20) != 4 || held.Freed(9) != 4 || m.Gives != nil {
		t.Errorf("%+v", m)
	}
	flow, err = flowOf(t, "memories(A, s == 2, 4, 2, 1, 1, 0, B, A * A, s * A + A, s)")
	if err != nil || len(flow) != 1 || len(flow[0].Stores) != 2 || flow[0].Regs != 4 {
		t.Fatalf("%+v, %v", flow, err)
	}
	if a, b := flow[0].Stores[0], flow[0].Stores[1]; flow[0].Gives(1) || !flow[0].Gives(2) || a.Places != 2 ||
		a.Need(2) != 1 || b.Frame != 9 || b.Need(2) != 9 || b.Freed(2) != 2 {
		t.Errorf("%+v", flow[0])
	}
	flow, err = flowOf(t, "u_w + skid()")
	if err != nil || len(flow) != 2 || flow[0].Kind != StageWiden || flow[0].N != 4 {
		t.Errorf("%+v, %v", flow, err)
	}
	flow, err = flowOf(t, "before(1, u_w + skid()) + memories(A, 1, 4, 2, 1, 1, 0, B, A * A, s * A + A, s) + skid()")
	if err != nil || len(flow) != 4 || flow[0].Before != 2 || flow[1].Before != 2 || flow[2].Before != 0 ||
		len(flow[2].Stores) != 2 || flow[3].Before != 0 {
		t.Errorf("%+v, %v", flow, err)
	}
	flow, err = flowOf(t, "credit(A, 8)")
	if err != nil || len(flow) != 1 || flow[0].Kind != StageCredit || flow[0].Regs != 3 || flow[0].N != 8 {
		t.Errorf("%+v, %v", flow, err)
	}
	for _, line := range []string{"credit(2)", "before(2, skid())", "before(s, skid())", "before(1)",
		"before(0, skid()) + memories(1)",
		"steps(2, 1, 1)", "steps(s, 1, 1, 0)", "steps(2, s / 0, 1, 0)", "steps(2, 1 / s, 1, 0)",
		"steps(2, Q, 1, 0)",
		"u_none", "u_skid * 2", "jump(2)", "memories(A, 1, 1, 2, 1, 1, 0)", "steps(2, clog2(s), 1, 0)", "(s ? u_skid : 0)"} {
		if _, err := flowOf(t, line); diag.CodeOf(err) != "L0603" {
			t.Errorf("%s: %v", line, err)
		}
	}
}
