// SPDX-License-Identifier: Apache-2.0

package diag

var foldings = []Entry{
	{UnreachableRate, "No folding reaches the rate that the plan asks for.",
		"$ lathe emit-verilog model.onnx -o out --plan plan.toml\n-- plan.toml --\n[fold]\nmode = \"balance\"\nfps = 1e12"},
	{RateOverBudget, "The rate that the plan asks for does not fit into its budget.",
		"$ lathe emit-verilog model.onnx -o out --plan plan.toml\n" +
			"-- plan.toml --\n[fold]\nmode = \"balance\"\nfps = 1e6\nmax_lut = 9"},
	{OverBudget, "No folding fits the plan's budget.",
		"$ lathe emit-verilog model.onnx -o out --plan plan.toml\n-- plan.toml --\n[fold]\nmode = \"balance\"\nmax_lut = 9"},
}
