// SPDX-License-Identifier: Apache-2.0

package diag

var kernels = []Entry{
	{"L0930", "Unknown kernel of the library.",
		"cuda.Find(\"dequantt\")"},
	{"L0931", "A file of the kernel library cannot be read: a fault of Lathe.",
		"cuda.ReadTemplate(\"map/x.cu\", text) // without the header line threads"},
	{"L0932", "The parameters of a kernel do not fit its template.",
		"cuda.Make(\"dequant\", \"k\", \"bf16\") // one of two parameters"},
	{"L0933", "The arguments, threads or grid of a launch do not fit the kernel.",
		"instance.Fit(cuda.Launch{Kernel: \"k\"}) // no arguments"},
	{"L0934", "Unknown GPU architecture.",
		"cuda.FindArch(\"sm_91\")"},
	{"L0935", "NVRTC is missing, or of another version.",
		"nvrtc.Open(\"empty\", \"\")"},
	{"L0936", "NVRTC rejects a source or returns no result.",
		"compiler.Compile(ctx, \"k.cu\", \"int x\", \"sm_90\")"},
	{"L0937", "ptxas or nvdisasm is missing, or does not start.",
		"nvrtc.Tools{Dir: \"empty\"}.Assemble(ctx, ptx, \"sm_80\")"},
	{"L0938", "ptxas or nvdisasm rejects its input.",
		"tools.Assemble(ctx, []byte(\"mov\"), \"sm_80\")"},
	{"L0939", "PTX cannot claim an older version.",
		"nvrtc.LowerPTX(ptx) // for sm_90a"},
	{"L0940", "The process that compiles kernels ended without an answer.",
		"compiler.Worker = []string{\"false\"}; compiler.Compile(ctx, \"k.cu\", \"int x;\", \"sm_90\")"},
}
