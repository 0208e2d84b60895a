// SPDX-License-Identifier: Apache-2.0

//go:build long

package area

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"lathe/internal/tools"
	"lathe/sim/area/paths"
)

// TestFewBits counts sums of products of few bits, one by one, flat: 128 outputs of 256 inputs, 16 inputs and 8 outputs
// at once, exact sums, weights outside; sums over blocks of the same size; and decoders and encoders of a lane. It
// prints a table as TestLibrary does.
//
//	go test -count=1 -timeout 1h -tags long -run '^TestFewBits$' -v ./sim/area
func TestFewBits(t *testing.T) {
	tools.Need(t, "yosys")
	for _, h := range fewBits() {
		t.Run(h.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			h.images(t, dir)
			modules := []single{h.single}
			r, err := Count(t.Context(), dir, besides(t, dir, modules), "modules",
				Options{Flatten: true, Paths: true, Timeout: time.Hour})
			if err != nil {
				t.Fatal(err)
			}
			for _, line := range append(goalsOf(r.Total).above(h.most), r.Longest.Over(paths.Limit)...) {
				t.Error(line)
			}
			t.Log(h.name + " " + h.row(r))
		})
	}
}

// named is a row with a name.
type named struct {
	name string
	held
}

func fewBits() (rows []named) {
	product := func(name string, xW, xE, wW, wE, dot int, mult string, most goals) {
		set := []string{"IN", "256", "OUT", "128", "IN_LANES", "16", "OUT_LANES", "8", "BIAS_W", "1", "SHIFT", "0", "MULT",
			strconv.Quote(mult), "CONSTS", `"16x8.mem"`}
		for param, v := range map[string]int{"IN_W": xW, "IN_E": xE, "W_W": wW, "W_E": wE, "DOT_W": dot, "T_W": dot,
			"OUT_W": dot} {
			set = append(set, param, fmt.Sprint(v))
		}
		rows = append(rows, named{name, held{single{"op_linear_fed", set}, most}})
	}
	product("binary by binary", 1, -1, 1, -1, 10, "low", goals{logic: 560})
	product("2 bits by binary", 2, 0, 1, -1, 11, "low", goals{logic: 940})
	product("4 bits by binary", 4, 0, 1, -1, 13, "low", goals{logic: 1300})
	product("8 bits by binary", 8, 0, 1, -1, 17, "low", goals{logic: 2010})
	product("8 bits by ternary", 8, 0, 2, 0, 17, "low", goals{logic: 2830})
	product("2 bits by 2 bits", 2, 0, 2, 0, 12, "low", goals{logic: 1100})
	product("4 bits by 4 bits", 4, 0, 4, 0, 16, "low", goals{logic: 2870})
	product("4 bits by 4 bits, packed", 4, 0, 4, 0, 16, "pack", goals{logic: 1710, dsp: 32})
	product("8 bits by 8 bits", 8, 0, 8, 0, 24, "auto", goals{})
	product("8 bits by 8 bits, chained", 8, 0, 8, 0, 24, "chain", goals{logic: 560, ff: 1010, dsp: 128})
	block := func(name string, most goals, set ...string) {
		set = append([]string{"IN", "256", "OUT", "128", "RUN", "256", "K", "32", "IN_LANES", "16", "ROWS", "8", "DRAIN",
			"1", "CLAMP", "0", "SPAN", "24", "LOW", "8", "OFFSET", "-110", "SUM_W", "32", "OUT_W", "32", "SCALES",
			`"1024x4.mem"`, "BIAS", `"128x16.mem"`}, set...)
		rows = append(rows, named{name, held{single{"mx_linear_fed", set}, most}})
	}
	block("mxint8", goals{logic: 3150, dsp: 128}, "D_W", "21")
	block("mxfp4", goals{logic: 3450}, "X_W", "4", "X_E", "2", "CODED", "1", "W_W", "4", "W_E", "2", "D_W", "15")
	codec := func(name, module string, set ...string) {
		rows = append(rows, named{name, held{single: single{module, append(set, "LANES", "1")}}})
	}
	codec("e4m3 decoder", "num_float_dec", "KIND", "2")
	codec("e5m2 decoder", "num_float_dec", "E", "5", "M", "2", "KIND", "1", "OUT_W", "33")
	codec("dfloat(4,3) decoder", "num_float_dec", "HIDDEN", "0")
	codec("e4m3 encoder", "num_float_enc", "KIND", "2", "IN_W", "16")
	codec("e5m2 encoder", "num_float_enc", "E", "5", "M", "2", "KIND", "1", "IN_W", "16")
	codec("fixed(8) encoder", "op_cast", "IN_W", "16", "SHIFT", "6", "OUT_W", "8")
	return rows
}
