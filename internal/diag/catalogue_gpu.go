// SPDX-License-Identifier: Apache-2.0

package diag

var devices = []Entry{
	{NoGPU, "There is no CUDA driver or no GPU on this machine.",
		"Go on without one: `lathe run --engine cuda` takes the emulated device. For a GPU, install the NVIDIA " +
			"driver and see that nvidia-smi shows it.",
		"gpu.OpenDriver(gpu.DriverOptions{Library: \"libcuda-of-no-machine.so.1\"})"},
	{OldDriver, "The CUDA driver is too old.",
		"Update the driver to 470 (CUDA 11.4) or later, or use the emulated device, which needs none.",
		"gpu.OpenDriver(options) // a driver of CUDA 11.2"},
	{GPUMemory, "The device has not enough free memory.",
		"Free memory on the device, take one with more, or run the model with another `--engine`.",
		"device.Alloc(1 << 50)"},
	{NoBinary, "A compiled program has no kernels, or none that the device can run.",
		"Compile for the GPU in the message too: `lathe emit-cuda --arch`, with sm_80 or later.",
		"device.Load(program) // code for sm_80 and later on a GPU of sm_75"},
	{DriverFailed, "The CUDA driver does not start, or refuses a call.",
		"Look at the state of the GPU and its driver with nvidia-smi, and run the command again.",
		"device.Sync() // of a driver that fails"},
	{GPUFault, "A kernel failed on the GPU, which must be opened again.",
		"Open the device again. `lathe replay DIR --device emulated` repeats a recorded run and names the thread " +
			"and the access.",
		"device.Sync() // after a kernel that read outside of its buffers"},
	{UnknownLaunch, "A launch names a kernel that is not in the program.",
		"Launch one of the kernels that the program holds; the hint lists them or names the nearest.",
		"device.Launch(code, nil, cuda.Launch{Kernel: \"copy_word\"})"},
	{GPULaunch, "The arguments, block, grid or shared memory of a launch do not fit the kernel or the device.",
		"Pass arguments of the sizes that the hint lists, and a block of at most its threads.",
		"device.Launch(code, nil, cuda.Launch{Kernel: \"copy_words\"}) // no arguments"},
	{LocalMemory, "A kernel uses local memory, although that was ruled out.",
		"Use smaller tiles, or allow more registers a thread, so that the values of the kernel stay in registers.",
		"device.Load(program) // a kernel that spills registers"},
	{ForeignBuffer, "A buffer, program or graph is used on another device, or beyond its end.",
		"Use buffers, programs and graphs on the device that gave them, within their length, and only until they " +
			"are given back.",
		"device.Read(gpu.Buffer{Addr: 1, Bytes: 4}, make([]byte, 4))"},
	{RecordingWrite, "The folder of a recording, or of what a replay has read, cannot be written.",
		"Choose a new folder on a disk with room for the recording or the results.",
		"record.New(device, \"full\") // a folder that holds something"},
	{RecordingBroken, "A recording is broken, incomplete, or of another version.",
		"Make the recording again: `lathe run MODEL --engine cuda --record DIR`, with this version.",
		"$ lathe replay nowhere"},
	{RecordingDiffers, "A device returns other results than were recorded.",
		"Repeat with `-o DIR`, and compare what it keeps with the files in data/ of the recording to find the " +
			"first kernel that differs.",
		"$ lathe replay recording-other --device emulated"},
	{BenchmarkFiles, "The compiled kernels or the results of a benchmark cannot be read or written.",
		"Build the pack again with `scripts/gpu-bench build`, and name a folder for the results that can be " +
			"written.",
		"bench.OpenPack(\"empty\")"},
	{GPUTimeout, "A kernel on a GPU did not finish in time.",
		"Try the case without a GPU: `scripts/gpu-bench -emulated -match NAME`; the next run leaves it out.",
		"bench.Run(ctx, options) // a case limit of a nanosecond"},
}
