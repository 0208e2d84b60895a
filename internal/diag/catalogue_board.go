// SPDX-License-Identifier: Apache-2.0

package diag

// The errors of boards.
var boards = []Entry{
	{UnknownBoard, "There is no board of that name.",
		"Use a name that `lathe board list` prints. For any other board, put the design behind its AXI4-Stream ports " +
			"yourself, or place it with `lathe route`.",
		"$ lathe board build out --board arty-a7 -o out.bit"},
	{BoardClock, "The PLL of the board does not make that clock, or it is too slow for the serial line.",
		"Pass `--clock` the value that the hint gives, or leave it out for the usual clock of the board.",
		"$ lathe emit-verilog model.onnx -o out\n$ lathe board build out --board ulx3s-85f --clock 900 -o out.bit"},
	{BoardCore, "The design is no function of whole samples, or needs a memory that boards do not have.",
		"Emit the design with its weights inside and for one length of its frames: without `--decode` and `--lengths`, " +
			"and without weights of [memory] that lie outside.",
		"$ lathe emit-verilog model.onnx -o out --plan plan.toml\n$ lathe board build out --board ulx3s-85f -o out.bit" +
			"\n-- plan.toml --\n[memory]\nweights = \"stream\"\n"},
	{BoardPort, "The serial port cannot be opened, or fails.",
		"Pass `--port` one of the ports that the hint lists; see that the board is connected and that your user may " +
			"open the file.",
		"$ lathe board run model.onnx --port nowhere --inputs x.npz -o y.npz"},
	{BoardSilent, "No board answers at the port.",
		"Load a bitstream of `lathe board build`, name the port of the board with `--port`, close other programs that " +
			"read it, and allow more `--timeout` for a simulated board.",
		"board.Open(ctx, port, board.Options{Now: now}) // a port at which nothing answers"},
	{BoardDesign, "The board holds another design than that of the model and its flags.",
		"Load the bitstream of this design, or pass `lathe board run` the model, plan and calibration that " +
			"`lathe emit-verilog` was given.",
		"link.Is(id, 64, 10) // of a board with another design"},
	{BoardFailed, "A sample has no result, however often it is sent.",
		"Check the cable and the lights, reset the board by its button, or allow more `--timeout`; build the bitstream " +
			"again for a lower `--clock`.",
		"link.Run(ctx, samples, nil) // where nothing comes back"},
}
