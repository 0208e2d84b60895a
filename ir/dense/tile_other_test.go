// SPDX-License-Identifier: Apache-2.0

//go:build !amd64

package dense

// tiles are the kernels that run on this machine.
func tiles() map[string]tile { return map[string]tile{"go": tileGo} }
