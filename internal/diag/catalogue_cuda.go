// SPDX-License-Identifier: Apache-2.0

package diag

var kernels = []Entry{
	{UnknownKernel, "Unknown kernel of the library.",
		"cuda.Find(\"dequantt\")"},
	{KernelHeader, "A file of the kernel library cannot be read: a fault of Lathe.",
		"cuda.ReadTemplate(\"map/x.cu\", text) // without the header line threads"},
	{KernelParameters, "The parameters of a kernel do not fit its template.",
		"cuda.Make(\"dequant\", \"k\", \"bf16\") // one of two parameters"},
	{KernelLaunch, "The arguments, threads or grid of a launch do not fit the kernel.",
		"instance.Fit(cuda.Launch{Kernel: \"k\"}) // no arguments"},
	{UnknownGPU, "Unknown GPU architecture.",
		"cuda.FindArch(\"sm_91\")"},
	{NoNVRTC, "NVRTC is missing, or of another version.",
		"nvrtc.Open(\"empty\", \"\")"},
	{NVRTCFailed, "NVRTC rejects a source or returns no result.",
		"compiler.Compile(ctx, \"k.cu\", \"int x\", \"sm_90\")"},
	{NoAssembler, "ptxas or nvdisasm is missing, or does not start.",
		"nvrtc.Tools{Dir: \"empty\"}.Assemble(ctx, ptx, \"sm_80\")"},
	{AssemblerFailed, "ptxas or nvdisasm rejects its input.",
		"tools.Assemble(ctx, []byte(\"mov\"), \"sm_80\")"},
	{PTXVersion, "PTX cannot claim an older version.",
		"nvrtc.LowerPTX(ptx) // for sm_90a"},
	{CompilerEnded, "The process that compiles kernels ended without an answer.",
		"compiler.Worker = []string{\"false\"}; compiler.Compile(ctx, \"k.cu\", \"int x;\", \"sm_90\")"},
}
