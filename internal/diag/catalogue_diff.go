// SPDX-License-Identifier: Apache-2.0

package diag

// comparisons are the errors of models that are held against each other.
var comparisons = []Entry{
	{ModelsDiffer, "Two models that `lathe diff` compares differ.",
		"Read the differences that the command has printed; the exit status says that there are some, not that a " +
			"model is broken.",
		"$ lathe diff model.onnx one.lathe\n-- one.lathe --\nlathe 1\ngraph %g float(%x) {\n  %x = input : 1x8 fp32\n" +
			"  return y = %x\n}\n"},
}
