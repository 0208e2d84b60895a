// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"lathe/internal/evidence"
	"lathe/internal/workers"
	"lathe/sim/area"
	"lathe/sim/area/paths"
)

// few is a unit of products of few bits, or a codec of a lane, and what it may take at most; 0: no goal.
type few struct {
	name  string
	codec bool
	line  string // the module and its parameters, as in alone
	most  fewCells
}

// fewCells are LUTs of logic alone, registers and multipliers.
type fewCells struct{ logic, ff, dsp int }

// fewBits are the units of docs/area.md: 128 outputs of 256 inputs, 16 inputs and 8 outputs at once, exact sums,
// weights outside; sums over blocks of the same size; and decoders and encoders of a lane.
func fewBits() (rows []few) {
	product := func(name, mult string, xW, xE, wW, wE, dot int, most fewCells) {
		rows = append(rows, few{name: name, most: most, line: fmt.Sprintf("op_linear_fed IN=256 OUT=128 IN_LANES=16 "+
			`OUT_LANES=8 BIAS_W=1 SHIFT=0 MULT=%s CONSTS="16x8.mem" IN_W=%d IN_E=%d W_W=%d W_E=%d DOT_W=%d T_W=%[6]d `+
			"OUT_W=%[6]d", mult, xW, xE, wW, wE, dot)})
	}
	product("binary by binary", `"low"`, 1, -1, 1, -1, 10, fewCells{logic: 560})
	product("2 bits by binary", `"low"`, 2, 0, 1, -1, 11, fewCells{logic: 940})
	product("4 bits by binary", `"low"`, 4, 0, 1, -1, 13, fewCells{logic: 1300})
	product("8 bits by binary", `"low"`, 8, 0, 1, -1, 17, fewCells{logic: 2010})
	product("8 bits by ternary", `"low"`, 8, 0, 2, 0, 17, fewCells{logic: 2830})
	product("2 bits by 2 bits", `"low"`, 2, 0, 2, 0, 12, fewCells{logic: 1100})
	product("4 bits by 4 bits", `"low"`, 4, 0, 4, 0, 16, fewCells{logic: 2870})
	product("4 bits by 4 bits, `dsp = \"pack\"`", `"pack"`, 4, 0, 4, 0, 16, fewCells{logic: 1710, dsp: 32})
	product("8 bits by 8 bits", `"auto"`, 8, 0, 8, 0, 24, fewCells{})
	product("8 bits by 8 bits, `dsp = \"chain\"`", `"chain"`, 8, 0, 8, 0, 24, fewCells{logic: 560, ff: 1010, dsp: 128})
	product("8 bits by 8 bits, `dsp = \"pack_chain\"`", `"pack" LONG=6`, 8, 0, 8, 0, 24,
		fewCells{logic: 450, ff: 1010, dsp: 76})
	block := func(name, set string, most fewCells) {
		rows = append(rows, few{name: name, most: most, line: "mx_linear_fed IN=256 OUT=128 RUN=256 K=32 IN_LANES=16 " +
			`ROWS=8 DRAIN=1 CLAMP=0 SPAN=24 LOW=8 OFFSET=-110 SUM_W=32 OUT_W=32 SCALES="1024x4.mem" BIAS="128x16.mem" ` + set})
	}
	block("mxint8, its scales and window included", "D_W=21", fewCells{logic: 3150, dsp: 128})
	block("mxfp4, the same", "X_W=4 X_E=2 CODED=1 W_W=4 W_E=2 D_W=15", fewCells{logic: 3450})
	for _, c := range [][2]string{{"fixed(8) encoder", "op_cast IN_W=16 SHIFT=6 OUT_W=8"},
		{"dfloat(4,3) decoder", "num_float_dec HIDDEN=0"}, {"e4m3 decoder", "num_float_dec KIND=2"},
		{"e5m2 decoder", "num_float_dec E=5 M=2 KIND=1 OUT_W=33"}, {"e4m3 encoder", "num_float_enc KIND=2 IN_W=16"},
		{"e5m2 encoder", "num_float_enc E=5 M=2 KIND=1 IN_W=16"}} {
		rows = append(rows, few{name: c[0], codec: true, line: c[1] + " LANES=1"})
	}
	return rows
}

// sums counts the units that -run matches, keeps the counts as evidence, and prints docs/area.md.
func sums(ctx context.Context, f *flags, _ []string, say func(string)) error {
	e, err := evidence.Read(evidenceDir)
	if err != nil {
		return err
	}
	rows := fewBits()
	var lock sync.Mutex
	failed := 0
	err = workers.Try(ctx, len(rows), 2, func(i int) error {
		if !f.run.MatchString(rows[i].name) {
			return nil
		}
		line, err := rows[i].count(ctx)
		line.Commit = f.commit
		lock.Lock()
		defer lock.Unlock()
		if err != nil {
			say(fmt.Sprintf("%s: %v", rows[i].name, err))
			failed++
			return nil
		}
		say(fmt.Sprintf("%+v", line))
		e.SetSum(line)
		return saveAreas(e)
	})
	if err != nil {
		return err
	}
	return failures(ctx, failed)
}

// count has Yosys count a unit by itself, flat. Paths beyond the limit and cells above the goals are errors.
func (u few) count(ctx context.Context) (evidence.Sum, error) {
	line := evidence.Sum{Name: u.name, Codec: u.codec}
	m, err := parsed(u.line)
	if err != nil {
		return line, err
	}
	var ports, links []string
	for _, p := range m.ports {
		way := "input"
		if p.Output {
			way = "output"
		}
		ports = append(ports, fmt.Sprintf("  %s wire [%d:0] u0_%s", way, p.Width-1, p.Name))
		links = append(links, fmt.Sprintf(".%s(u0_%[1]s)", p.Name))
	}
	m.files["modules.v"] = "module modules (\n" + strings.Join(ports, ",\n") + "\n);\n  " + m.module + " #(" + m.set +
		") u0 (" + strings.Join(links, ", ") + ");\nendmodule\n"
	dir, err := os.MkdirTemp("", "measure")
	if err != nil {
		return line, err
	}
	defer os.RemoveAll(dir)
	for name, text := range m.files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return line, err
		}
	}
	r, err := area.Count(ctx, dir, append(m.sources, "modules.v"), "modules",
		area.Options{Flatten: true, Paths: true, Timeout: time.Hour})
	if err != nil {
		return line, err
	}
	c := r.Total
	if line.LUT = c.LUT; !u.codec {
		line.FF, line.DSP = c.FF, c.DSP
	}
	over := r.Longest.Over(paths.Limit)
	for _, p := range []struct {
		name       string
		have, most int
	}{{"LUTs of logic", c.LUT - c.SRL - c.LUTRAM, u.most.logic}, {"registers", c.FF, u.most.ff},
		{"multipliers", c.DSP, u.most.dsp}} {
		if p.most > 0 && p.have > p.most {
			over = append(over, fmt.Sprintf("%d %s, the goal is %d", p.have, p.name, p.most))
		}
	}
	if len(over) > 0 {
		return line, fmt.Errorf("%s", strings.Join(over, "; "))
	}
	return line, nil
}
