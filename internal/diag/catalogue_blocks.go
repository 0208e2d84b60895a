// SPDX-License-Identifier: Apache-2.0

package diag

// The errors of values in blocks.
var blocks = []Entry{
	{BlockAxis, "A value has blocks along an axis other than the last.",
		"Put the blocks along the last axis: leave the option axis out of the format, take a format without " +
			"tiles, or transpose the value.",
		"$ lathe inspect g.lathe\n-- g.lathe --\nlathe 1\ngraph %g quantized(%x) {\n" +
			"  %x = input : 8x8 mxint(8,4,axis=0)\n  return y = %x\n}\n"},
	{BlockScale, "A block of a constant has no scale, or one that is not a power of two.",
		"Encode the constant again with `lathe quantize`; in text, give each block one scale that the format can " +
			"hold.",
		"$ lathe inspect g.lathe\n-- g.lathe --\nlathe 1\ngraph %g quantized() {\n" +
			"  %c = const {data = i8 [1, 2, 3, 4]} : 4 mxint(8,2){0x1p+00,3}\n  return y = %c\n}\n"},
	{NoBlockAccumulator, "A sum over blocks has no window accumulator: a grouped convolution, or too many blocks.",
		"Give the layer fixed formats by a [[quantize.rule]], such as weight = \"fixed(8)\".",
		"sum.Conv.Eval(n) // in two groups, over blocks"},
	{BlockSizes, "Data and weights of a sum over blocks have different block sizes.",
		"Give data and weights formats of one block size, such as mxint8 for both.",
		"sum.Linear.Eval(n) // of mxint(8,4) data and mxint(8,2) weights"},
}
