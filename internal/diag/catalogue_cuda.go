// SPDX-License-Identifier: Apache-2.0

package diag

var kernels = []Entry{
	{UnknownKernel, "Unknown kernel of the library.",
		"Use a kernel that `lathe list cuda` prints.",
		"cuda.Find(\"dequantt\")"},
	{KernelHeader, "A file of the kernel library cannot be read: a fault of Lathe.",
		"Write the header lines of the file below cuda/kernels/ as its neighbours have them; in an unchanged copy " +
			"of Lathe, report the message.",
		"cuda.ReadTemplate(\"map/x.cu\", text) // without the header line threads"},
	{KernelParameters, "The parameters of a kernel do not fit its template.",
		"Give one value for each template parameter that the hint lists, and each kernel a C name of its own.",
		"cuda.Make(\"dequant\", \"k\", \"bf16\") // one of two parameters"},
	{KernelLaunch, "The arguments, threads or grid of a launch do not fit the kernel.",
		"Launch the kernel by the plan that made it, whose arguments, block and grid fit; tensors and their rows " +
			"begin at multiples of 16 bytes.",
		"instance.Fit(cuda.Launch{Kernel: \"k\"}) // no arguments"},
	{UnknownGPU, "Unknown GPU architecture.",
		"Use one of the architectures that the hint lists, such as `--arch sm_90`.",
		"cuda.FindArch(\"sm_91\")"},
	{NoNVRTC, "NVRTC is missing, or of another version.",
		"Run `scripts/setup --cuda`, which fetches NVRTC; neither a GPU nor a CUDA toolkit is needed.",
		"nvrtc.Open(\"empty\", \"\")"},
	{NVRTCFailed, "NVRTC rejects a source or returns no result.",
		"Correct the line of the source that the notes name if the kernel is yours; else report the model and the " +
			"message.",
		"compiler.Compile(ctx, \"k.cu\", \"int x\", \"sm_90\")"},
	{NoAssembler, "ptxas or nvdisasm is missing, or does not start.",
		"Run `scripts/setup --cuda`, and see that the temporary folder is writable and has room.",
		"nvrtc.Tools{Dir: \"empty\"}.Assemble(ctx, ptx, \"sm_80\")"},
	{AssemblerFailed, "ptxas or nvdisasm rejects its input.",
		"Pass unchanged PTX or a cubin of NVRTC, for an architecture that ptxas knows; else report the model and " +
			"the message.",
		"tools.Assemble(ctx, []byte(\"mov\"), \"sm_80\")"},
	{PTXVersion, "PTX cannot claim an older version.",
		"Compile for compute_80 and pass the PTX as NVRTC has printed it.",
		"nvrtc.LowerPTX(ptx) // for sm_90a"},
	{CompilerEnded, "The process that compiles kernels ended without an answer.",
		"Free memory, about 100 MB for each compilation, and run again; `lathe doctor` looks at the toolchain.",
		"compiler.Worker = []string{\"false\"}; compiler.Compile(ctx, \"k.cu\", \"int x;\", \"sm_90\")"},
}
