// SPDX-License-Identifier: Apache-2.0

package diag

var devices = []Entry{
	{"L0975", "There is no CUDA driver or no GPU on this machine, or the driver does not start.",
		"gpu.OpenDriver(gpu.DriverOptions{Library: \"libcuda-of-no-machine.so.1\"})"},
	{"L0976", "The CUDA driver is too old.",
		"gpu.OpenDriver(options) // a driver of CUDA 11.2"},
	{"L0977", "The device has not enough free memory.",
		"device.Alloc(1 << 50)"},
	{"L0978", "A compiled program holds nothing that the device can run, or no kernels.",
		"device.Load(program) // code for sm_80 and later on a GPU of sm_75"},
	{"L0979", "The CUDA driver refuses a call.",
		"device.Sync() // of a driver that fails"},
	{"L0980", "A kernel went wrong on the GPU, which must be opened anew.",
		"device.Sync() // after a kernel that read outside of its buffers"},
	{"L0981", "A launch names a kernel that the program does not hold.",
		"device.Launch(code, nil, cuda.Launch{Kernel: \"copy_word\"})"},
	{"L0982", "The arguments, block, grid or shared memory of a launch do not fit the kernel or the device.",
		"device.Launch(code, nil, cuda.Launch{Kernel: \"copy_words\"}) // no arguments"},
	{"L0983", "A kernel uses local memory, which was to be refused.",
		"device.Load(program) // a kernel that spills registers"},
	{"L0984", "A buffer, program or graph is used on a device to which it does not belong, or beyond its end.",
		"device.Read(gpu.Buffer{Addr: 1, Bytes: 4}, make([]byte, 4))"},
	{"L0985", "The folder of a recording, or of what a replay has read, cannot be written.",
		"record.New(device, \"full\") // a folder that holds something"},
	{"L0986", "A recording is broken, incomplete, or of another version.",
		"record.Open(\"empty\")"},
	{"L0987", "A device answers otherwise than the one that was recorded.",
		"record.Replay(dir, device, \"\") // one argument of a launch was changed"},
}
