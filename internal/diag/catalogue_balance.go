// SPDX-License-Identifier: Apache-2.0

package diag

var foldings = []Entry{
	{UnreachableRate, "No folding reaches the rate that the plan asks for.",
		"Lower fps of [fold] or `--fps`, raise clock_mhz of [target] or `--clock`, or give the layer in the " +
			"message more lanes where a [[fold.rule]] limits it.",
		"$ lathe emit-verilog model.onnx -o out --plan plan.toml\n-- plan.toml --\n[fold]\nmode = \"balance\"\nfps = 1e12"},
	{RateOverBudget, "The rate that the plan asks for does not fit into its budget.",
		"Lower fps to what the hint names, or raise max_lut, max_ff, max_dsp or max_bram of [fold].",
		"$ lathe emit-verilog model.onnx -o out --plan plan.toml\n" +
			"-- plan.toml --\n[fold]\nmode = \"balance\"\nfps = 1e6\nmax_lut = 9"},
	{OverBudget, "No folding fits the plan's budget.",
		"Raise the budgets max_lut, max_ff, max_dsp or max_bram of [fold], or use narrower formats.",
		"$ lathe emit-verilog model.onnx -o out --plan plan.toml\n-- plan.toml --\n[fold]\nmode = \"balance\"\nmax_lut = 9"},
}
