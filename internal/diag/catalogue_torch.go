// SPDX-License-Identifier: Apache-2.0

package diag

// programs are errors about archives, and about programs that torch.export saved. internal/clitest makes the files.
var programs = []Entry{
	{"L0260", "An archive holds a name twice, a path that leaves its folder, members that overlap, or encrypted ones.",
		"$ lathe inspect dots.pt2"},
	{"L0261", "The model, or a weight of it, is a Python pickle, which runs code when it is read, and is never opened.",
		"$ lathe inspect pickle.pt"},
	{"L0262", "The archive holds no exported PyTorch program, or several.",
		"$ lathe inspect no-program.pt2"},
	{"L0263", "A text in the archive of a PyTorch program is not as the schema of torch.export says.",
		"$ lathe inspect no-graph.pt2"},
	{"L0264", "A weight of a PyTorch program does not lie inside of its stored data.",
		"$ lathe inspect long-weight.pt2"},
	{"L0265", "A PyTorch program reads a value under its old name after an operation changed it in place.",
		"$ lathe inspect in-place.pt2"},
	{"L0266", "An operation of a PyTorch program gives another shape or type than the archive states.",
		"$ lathe inspect other-shape.pt2"},
}
