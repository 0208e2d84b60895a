// SPDX-License-Identifier: Apache-2.0

package dense

import "golang.org/x/sys/cpu"

// tiles are the kernels that run on this machine.
func tiles() map[string]tile {
	all := map[string]tile{"go": tileGo}
	if cpu.X86.HasAVX2 && cpu.X86.HasFMA {
		all["avx2"] = tileAVX2
	}
	if cpu.X86.HasAVX512F {
		all["avx512"] = tileAVX512
	}
	return all
}
