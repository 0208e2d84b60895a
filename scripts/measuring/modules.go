// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"lathe/internal/evidence"
	"lathe/rtl"
	"lathe/rtl/netlist"
	"lathe/sim/route"
)

const (
	modulesCommand = "scripts/measure timing-modules"
	modulesPage    = "docs/timing-modules.md"
)

// alone are modules in a size as networks have them. A value such as "256x48.mem" names an image of 256 random words of
// 48 bits.
const alone = `stream_skid WIDTH=32
stream_fifo WIDTH=32 DEPTH=16
stream_fifo WIDTH=32 DEPTH=512
stream_credit WIDTH=128 ROWS=9
stream_widen WIDTH=32 N=4
stream_narrow WIDTH=32 N=4
stream_cross WIDTH=32
mem_ram WIDTH=32 DEPTH=512
mem_rom WIDTH=128 DEPTH=64 IMAGE="64x128.mem"
mem_rom WIDTH=32 DEPTH=1024 IMAGE="1024x32.mem"
num_mul A_W=8 B_W=8
num_mul A_W=16 B_W=16
num_mul_float A_NAN=1
num_add_tree N=16 IN_W=16 PIPE=2
num_dot N=16 A_W=8 B_W=8 PIPE=2
num_dot_low N=16 A_W=4 B_W=4
num_dot_signs N=64
num_offset IN_W=20 SHIFT=7
num_rescale
num_rsqrt
num_log
op_linear IN=64 OUT=32 IN_LANES=8 OUT_LANES=4 DOT_W=22 T_W=23 WEIGHTS="64x256.mem" CONSTS="8x64.mem"
op_linear IN=256 OUT=64 IN_LANES=16 OUT_LANES=4 DOT_W=24 T_W=25 WEIGHTS="256x512.mem" CONSTS="16x64.mem"
op_conv H=32 W=32 C=16 OC=16 IN_LANES=8 OUT_LANES=4 DOT_W=24 T_W=25 WEIGHTS="72x256.mem" CONSTS="4x64.mem"
op_conv H=8 W=8 C=8 OC=8 STREAM_LANES=8 IN_LANES=72 OUT_LANES=1 DOT_W=24 T_W=25 WEIGHTS="8x576.mem" CONSTS="8x16.mem"
op_dwconv H=16 W=16 C=8 LANES=2 WEIGHTS="36x16.mem" CONSTS="4x32.mem"
op_window H=32 W=32 C=16 IN_LANES=4 OUT_LANES=4
op_window H=16 W=16 C=4 IN_LANES=4 OUT_LANES=36
op_maxpool H=16 W=16 C=8
op_maxpool H=16 W=16 C=8 KH=3 KW=3 PT=1 PL=1
op_avgpool H=8 W=8 C=16 KH=8 KW=8 SH=8 SW=8
op_table LANES=2 IMAGE="256x8.mem"
op_scale WEIGHTS="2x16.mem" CONSTS="2x32.mem"
op_interp IMAGE="256x48.mem"
op_softmax ROWS=16 N=64
op_norm ROWS=16 N=64 IMAGE="64x16.mem"
op_attend_scores QUERIES=16 KEYS=16 ROW=16 HEADS=4 GROUPS=4 SIZE=16 F=4 R=2
op_attend_sum QUERIES=16 KEYS=16 ROW=16 HEADS=4 GROUPS=4 SIZE=16 F=4 R=2
op_recur HIDDEN=16 OUT_LANES=1 STEPS=20 WEIGHTS="64x128.mem" TANH="256x32.mem" SIGMOID="256x32.mem"
mx_linear IN=64 OUT=32 RUN=64 K=16 IN_LANES=8 ROWS=4 WEIGHTS="64x256.mem" SCALES="32x16.mem" BIAS="32x16.mem"
mx_encode IN_W=24 K=16 ROW=64`

// instance is a module of the library with parameters.
type instance struct {
	module string
	set    string         // .NAME(VALUE), ...
	ports  []netlist.Port // with the widths that the parameters make
	// sources are the files of the library, the order of which Yosys sees, files their texts and the images, by name.
	sources []string
	files   map[string]string
}

// parsed is the instance of a line: a module and parameters, as in alone.
func parsed(line string) (*instance, error) {
	files := map[string]string{}
	fields := strings.Fields(line)
	var set []rtl.Param
	var values []string
	for _, f := range fields[1:] {
		name, value, _ := strings.Cut(f, "=")
		set = append(set, rtl.Param{Name: name, Value: value})
		values = append(values, fmt.Sprintf(".%s(%s)", name, value))
		var words, bits int
		if n, _ := fmt.Sscanf(value, `"%dx%d.mem"`, &words, &bits); n == 2 {
			files[strings.Trim(value, `"`)] = rtl.RandomImage(words, bits)
		}
	}
	library, err := rtl.Files(fields[0])
	if err != nil {
		return nil, err
	}
	var sources []string
	for _, f := range library {
		sources = append(sources, f.Name)
		files[f.Name] = string(f.Data)
	}
	ports, err := rtl.Signature(fields[0], set)
	return &instance{fields[0], strings.Join(values, ", "), ports, sources, files}, err
}

// aloneFiles are those of an emitted design of one module between registers, by name.
func aloneFiles(line string) (map[string]string, error) {
	m, err := parsed(line)
	if err != nil {
		return nil, err
	}
	var outside, inside, links []string
	clock := ""
	for _, p := range m.ports {
		if p.Name == "clk" || strings.HasSuffix(p.Name, "_clk") {
			clock = cmp.Or(clock, p.Name)
			outside = append(outside, "input wire "+p.Name)
			links = append(links, fmt.Sprintf(".%s(%s)", p.Name, p.Name))
			continue
		}
		inner, width := "u_"+p.Name, fmt.Sprintf("[%d:0] ", p.Width-1)
		port, wire, to, from := "input wire ", "reg ", inner, p.Name
		if p.Output {
			port, wire, to, from = "output reg ", "wire ", p.Name, inner
		}
		outside = append(outside, port+width+p.Name)
		inside = append(inside, fmt.Sprintf("  %s%s%s;\n  always @(posedge %s) %s <= %s;\n", wire, width, inner, clock, to,
			from))
		links = append(links, fmt.Sprintf(".%s(%s)", p.Name, inner))
	}
	m.files["alone.v"] = "module alone (" + strings.Join(outside, ", ") + ");\n" + strings.Join(inside, "") +
		"  " + m.module + " #(" + m.set + ") core (" + strings.Join(links, ", ") + ");\nendmodule\n"
	m.files["design.json"] = `{"top": "alone", "core": "` + m.module + `", "units": []}`
	return m.files, nil
}

// modules places and routes the modules that -run matches alone, and writes the page of their clocks. The rows of the
// others stay, as does that of one that fails.
func modules(ctx context.Context, f *flags, _ []string, say func(string)) error {
	page, err := os.ReadFile(modulesPage)
	if err != nil {
		return err
	}
	rows, failed := moduleRows(string(page)), 0
	for line := range strings.SplitSeq(alone, "\n") {
		if !f.run.MatchString(shown(line)) {
			continue
		}
		row, err := moduleRow(ctx, f.tools(), line)
		if err != nil {
			say(fmt.Sprintf("%s: %v", shown(line), err))
			failed++
			continue
		}
		say(strings.TrimSpace(row))
		rows[shown(line)] = row
		if err := write(modulesPage, modulesText(rows)); err != nil {
			return err
		}
	}
	return failures(ctx, failed)
}

// moduleRows are the rows of docs/timing-modules.md, by module and parameters.
func moduleRows(page string) map[string]string {
	rows := map[string]string{}
	for line := range strings.Lines(page) {
		cells := strings.Split(line, "|")
		if len(cells) > 3 && strings.TrimSpace(cells[1]) != "module" && !strings.HasPrefix(cells[1], "-") {
			rows[strings.TrimSpace(cells[1])+" "+strings.TrimSpace(cells[2])] = line
		}
	}
	return rows
}

// modulesText is the page with the rows of modules that it is about.
func modulesText(rows map[string]string) string {
	text := fmt.Sprintf(modulesHead, modulesCommand)
	for line := range strings.SplitSeq(alone, "\n") {
		text += rows[shown(line)]
	}
	return text
}

// moduleRow places and routes a module alone.
func moduleRow(ctx context.Context, tools, line string) (string, error) {
	files, err := aloneFiles(line)
	if err != nil {
		return "", err
	}
	r, err := routed(ctx, route.Options{Part: evidence.TimingPart, Tools: tools}, func(dir string) error {
		for name, text := range files {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				return err
			}
		}
		return nil
	}, ".")
	if err != nil {
		return "", err
	}
	from, to := r.Path[0], r.Path[len(r.Path)-1]
	return fmt.Sprintf("| %s | %.1f | %.1f | %d | %d | %d | %d | %s | %s | %.0f %% |\n",
		strings.Replace(shown(line), " ", " | ", 1), r.MHz, r.Median, r.LUT, r.FF, r.DSP, r.BRAM, from.Module, to.Module,
		100*r.Wire/(r.Logic+r.Wire)), nil
}

// shown is how the page writes a module and its parameters, without memory images.
func shown(line string) string {
	fields := strings.Fields(line)
	var set []string
	for _, f := range fields[1:] {
		if !strings.Contains(f, ".mem") {
			set = append(set, strings.ReplaceAll(f, `"`, ""))
		}
	}
	return fields[0] + " " + strings.Join(set, " ")
}

const modulesHead = `# Clocks of modules alone

Written by

    %s

Modules of the library between registers, placed and routed alone (-run writes the rows of some anew), for ecp5-85k,
speed grade 6, the slowest, with two seeds. Parameters that are not named have the defaults of the module. Memory images
are random. The clock is that of the best seed, with the median beside it; nextpnr is asked for 200 MHz. The
slowest path leads from one module to another, and wires are their share of it. [timing.md](timing.md) has whole
networks.

| module | parameters | MHz | median | LUT | FF | DSP | BRAM | from | to | wires |
|---|---|--:|--:|--:|--:|--:|--:|---|---|--:|
`
