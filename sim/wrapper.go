// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"strings"

	"lathe/emit"
)

// wrapperName is the module that the harness sees; its ports have fixed names: i0_data, i0_valid, ..., o0_*, t0_*.
const wrapperName = "lathe_top"

// wire is one port of the wrapper.
type wire struct {
	id   string // i0, o1, t2
	kind byte   // i, o, t
	port Port
}

func (s *Spec) wires() []wire {
	var all []wire
	add := func(kind byte, ports []Port) {
		for i, p := range ports {
			all = append(all, wire{id: fmt.Sprintf("%c%d", kind, i), kind: kind, port: p.names(s.Handshake)})
		}
	}
	add('i', s.In)
	add('o', s.Out)
	add('t', s.Taps)
	return all
}

// wrapper prints the module around the design.
func (s *Spec) wrapper() string {
	var b strings.Builder
	b.WriteString("`default_nettype none\n/* verilator lint_off UNUSED */\n")
	fmt.Fprintf(&b, "module %s (\n    input wire clk,\n    input wire rst", wrapperName)
	for _, w := range s.wires() {
		in, out := "input ", "output"
		if w.kind != 'i' {
			in = "output"
		}
		ready := map[byte]string{'i': out, 'o': "input ", 't': out}[w.kind]
		fmt.Fprintf(&b, ",\n    %s wire [%d:0] %s_data", in, w.port.Width-1, w.id)
		fmt.Fprintf(&b, ",\n    %s wire %s_valid,\n    %s wire %s_ready", in, w.id, ready, w.id)
		if w.port.Last != "" {
			fmt.Fprintf(&b, ",\n    %s wire %s_last", in, w.id)
		}
	}
	b.WriteString("\n);\n")
	s.printInstance(&b)
	if s.Handshake == ByWrapper {
		s.printHandshake(&b)
	}
	if s.Memory != nil {
		s.Memory.print(&b)
	}
	for _, w := range s.wires() {
		if w.kind == 't' {
			fmt.Fprintf(&b, "  assign %s_data = dut.%s;\n", w.id, w.port.Data)
			fmt.Fprintf(&b, "  assign %s_valid = dut.%s;\n", w.id, w.port.Valid)
			fmt.Fprintf(&b, "  assign %s_ready = dut.%s;\n", w.id, w.port.Ready)
			if w.port.Last != "" {
				fmt.Fprintf(&b, "  assign %s_last = dut.%s;\n", w.id, w.port.Last)
			}
		}
	}
	b.WriteString("endmodule\n`default_nettype wire\n")
	return b.String()
}

func (s *Spec) printInstance(b *strings.Builder) {
	if s.Handshake == ByWrapper {
		b.WriteString("  wire enable;\n")
	}
	if s.Memory != nil {
		s.Memory.declare(b)
	}
	fmt.Fprintf(b, "  %s", s.Top)
	if len(s.Params) > 0 {
		b.WriteString(" #(")
		for i, p := range s.Params {
			if i > 0 {
				b.WriteString(",")
			}
			fmt.Fprintf(b, "\n      .%s(%s)", p.Name, p.Value)
		}
		b.WriteString("\n  )")
	}
	var pins []string
	pin := func(name, net string) {
		if name != "" {
			pins = append(pins, fmt.Sprintf(".%s(%s)", name, net))
		}
	}
	pin(s.Clock, "clk")
	reset := "rst"
	if s.ResetActiveLow {
		reset = "!rst"
	}
	pin(s.Reset, reset)
	pin(s.Enable, "enable")
	for _, tie := range s.Ties {
		pin(tie.Name, tie.Value)
	}
	if s.Memory != nil {
		for _, p := range s.Memory.pins() {
			pin(p, p)
		}
	}
	for _, w := range s.wires() {
		if w.kind == 't' {
			continue
		}
		pin(w.port.Data, w.id+"_data")
		if s.Handshake == ByModule {
			pin(w.port.Valid, w.id+"_valid")
			pin(w.port.Ready, w.id+"_ready")
		}
		pin(w.port.Last, w.id+"_last")
	}
	fmt.Fprintf(b, " dut (\n      %s\n  );\n", strings.Join(pins, ",\n      "))
}

// printHandshake makes streams around a pipeline: it moves when its last stage is empty or taken.
func (s *Spec) printHandshake(b *strings.Builder) {
	var valids []string
	for i := range s.In {
		valids = append(valids, fmt.Sprintf("i%d_valid", i))
	}
	fmt.Fprintf(b, "  wire all_valid = %s;\n", strings.Join(valids, " && "))
	if s.Pipe == 0 {
		b.WriteString("  assign enable = o0_ready;\n  assign o0_valid = all_valid;\n")
	} else {
		fmt.Fprintf(b, "  reg [%d:0] stage;\n", s.Pipe)
		fmt.Fprintf(b, "  always @(posedge clk) if (rst) stage <= %d'd0;\n", s.Pipe+1)
		fmt.Fprintf(b, "    else if (enable) stage <= {stage[%d:0], all_valid};\n", s.Pipe-1)
		fmt.Fprintf(b, "  assign enable = !stage[%d] || o0_ready;\n", s.Pipe-1)
		fmt.Fprintf(b, "  assign o0_valid = stage[%d];\n", s.Pipe-1)
	}
	for i := range s.In {
		others := append(append([]string{"enable"}, valids[:i]...), valids[i+1:]...)
		fmt.Fprintf(b, "  assign i%d_ready = %s;\n", i, strings.Join(others, " && "))
	}
}

// prefix names the Verilated class of design i of a program.
func prefix(i int) string { return fmt.Sprintf("Vdut%d", i) }

// glue prints the C++ that binds the harness to the Verilated class of design i of a program.
func (s *Spec) glue(i int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "namespace dut%d {\n", i)
	if s.Trace {
		b.WriteString("static VerilatedFstC* trace;\n")
	}
	fmt.Fprintf(&b, "static VerilatedContext* context;\nstatic %s* top;\n", prefix(i))
	wires := s.wires()
	fmt.Fprintf(&b, "static LathePort ports[%d];\n", len(wires))
	b.WriteString("static uint8_t* at(void* p) { return static_cast<uint8_t*>(p); }\n")
	b.WriteString("static void open(int argc, char** argv, uint32_t seed, const char* trace_file) {\n")
	b.WriteString("    context = new VerilatedContext;\n    context->commandArgs(argc, argv);\n")
	b.WriteString("    context->randReset(2);\n    context->randSeed(int(seed >> 1));\n")
	if s.Trace {
		b.WriteString("    context->traceEverOn(true);\n")
	}
	fmt.Fprintf(&b, "    top = new %s(context, \"top\");\n", prefix(i))
	for i, w := range wires {
		last := "nullptr"
		if w.port.Last != "" {
			last = "at(&top->" + w.id + "_last)"
		}
		fmt.Fprintf(&b, "    ports[%d] = {%q, '%c', %d, at(&top->%s_data), ", i, w.port.Name, w.kind, w.port.Width, w.id)
		fmt.Fprintf(&b, "at(&top->%s_valid), at(&top->%s_ready), %s};\n", w.id, w.id, last)
	}
	if s.Trace {
		b.WriteString("    if (*trace_file) { trace = new VerilatedFstC; top->trace(trace, 99); trace->open(trace_file); }\n")
	}
	fmt.Fprintf(&b, "    (void)trace_file;\n}\nstatic LathePort* list(int* n) { *n = %d; return ports; }\n", len(wires))
	b.WriteString("static uint8_t* clk() { return &top->clk; }\nstatic uint8_t* rst() { return &top->rst; }\n")
	b.WriteString("static void eval() { top->eval(); }\n")
	if s.Trace {
		b.WriteString("static void dump(uint64_t t) { if (trace) trace->dump(t); }\n")
		b.WriteString("static void close() {\n    top->final();\n")
		b.WriteString("    if (trace) { trace->close(); delete trace; }\n    delete top;\n    delete context;\n}\n")
	} else {
		b.WriteString("static void dump(uint64_t) {}\n")
		b.WriteString("static void close() { top->final(); delete top; delete context; }\n")
	}
	b.WriteString("}\n")
	return b.String()
}

// glueAll prints the glue of all designs of a program, and the table from which the harness takes one.
func glueAll(specs []Spec) string {
	var b, table strings.Builder
	b.WriteString("#include \"harness.h\"\n#include \"verilated.h\"\n")
	if specs[0].Trace {
		b.WriteString("#include \"verilated_fst_c.h\"\n")
	}
	for i := range specs {
		fmt.Fprintf(&b, "#include \"%s.h\"\n%s", prefix(i), specs[i].glue(i))
		fmt.Fprintf(&table, "    {dut%[1]d::open, dut%[1]d::list, dut%[1]d::clk, dut%[1]d::rst, %[2]d, dut%[1]d::eval, "+
			"dut%[1]d::dump, dut%[1]d::close},\n", i, specs[i].Settle)
	}
	fmt.Fprintf(&b, "const LatheModel lathe_models[] = {\n%s};\nconst int lathe_model_count = %d;\n", &table, len(specs))
	return b.String()
}

// pins are the ports of the design for the memory, and the wires of the same names around it.
func (m *Memory) pins() (names []string) {
	for _, s := range m.Signals() {
		names = append(names, emit.AXI+"_"+s.Name)
	}
	return append(append(names, m.Bases()...), emit.AXIFailed)
}

func (m *Memory) declare(b *strings.Builder) {
	for _, s := range m.Signals() {
		fmt.Fprintf(b, "  wire [%d:0] %s_%s;\n", s.Width-1, emit.AXI, s.Name)
	}
	for _, name := range m.Bases() {
		at := m.Base
		if name == emit.AXICache {
			at = m.CacheBase
		}
		fmt.Fprintf(b, "  wire [63:0] %s = 64'd%d;\n", name, at)
	}
	fmt.Fprintf(b, "  wire %s;\n", emit.AXIFailed)
}

// print prints the memory.
func (m *Memory) print(b *strings.Builder) {
	b.WriteString("  reg [31:0] memory_seed, memory_stalls, memory_latency;\n  initial begin\n")
	for _, name := range []string{"seed", "stalls", "latency"} {
		fmt.Fprintf(b, "    if ($value$plusargs(\"lathe_memory_%[1]s=%%d\", memory_%[1]s) == 0) "+
			"memory_%[1]s = 32'd0;\n", name)
	}
	cache, word := 0, 1
	if m.Cache != nil {
		cache, word = m.Cache.Bytes, m.Cache.Word
	}
	fmt.Fprintf(b, "  end\n  tb_memory #(.BITS(%d), .BYTES(%d), .FILE(\"%s\"), .BASE(64'd%d), .CACHE(%d), "+
		".CACHE_BASE(64'd%d), .WORD(%d)) memory (\n"+
		"      .clk(clk), .rst_n(!rst), .seed(memory_seed), .stalls(memory_stalls), .latency(memory_latency)", m.Bits,
		m.Bytes, m.File, m.Base, cache, m.CacheBase, word)
	for _, s := range m.Signals() {
		if !s.Fixed {
			fmt.Fprintf(b, ",\n      .%s(%s_%s)", s.Name, emit.AXI, s.Name)
		}
	}
	fmt.Fprintf(b, "\n  );\n  always @(posedge clk) if (!rst && %s !== 1'b0) $fatal(1, \"%s is set\");\n", emit.AXIFailed,
		emit.AXIFailed)
}

// plusargs are how a run tells the memory its stalls; nil without one.
func (m *Memory) plusargs(in Input) []string {
	if m == nil {
		return nil
	}
	return []string{fmt.Sprintf("+lathe_memory_seed=%d", uint32(in.Seed)),
		fmt.Sprintf("+lathe_memory_stalls=%d", in.Memory.Percent),
		fmt.Sprintf("+lathe_memory_latency=%d", in.MemoryLatency)}
}
