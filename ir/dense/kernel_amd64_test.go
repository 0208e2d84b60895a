// SPDX-License-Identifier: Apache-2.0

package dense

import "golang.org/x/sys/cpu"

// kernels are those that run on this machine.
func kernels() map[string]kernel {
	all := map[string]kernel{"go": plainKernel}
	if cpu.X86.HasAVX2 && cpu.X86.HasFMA {
		all["avx2"] = kernelAVX2
		if cpu.X86.HasAVX512F {
			all["avx512"] = kernelAVX512
		}
	}
	return all
}
