// SPDX-License-Identifier: Apache-2.0

package diag

var foldings = []Entry{
	{"L0455", "No folding reaches the rate that the plan asks for.",
		"$ lathe emit-verilog model.onnx -o out --plan plan.toml\n-- plan.toml --\n[fold]\nmode = \"balance\"\nfps = 1e12"},
	{"L0456", "The rate that the plan asks for does not fit into its budget.",
		"$ lathe emit-verilog model.onnx -o out --plan plan.toml\n" +
			"-- plan.toml --\n[fold]\nmode = \"balance\"\nfps = 1e6\nmax_lut = 9"},
	{"L0457", "No folding fits the plan's budget.",
		"$ lathe emit-verilog model.onnx -o out --plan plan.toml\n-- plan.toml --\n[fold]\nmode = \"balance\"\nmax_lut = 9"},
}
