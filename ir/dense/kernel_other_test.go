// SPDX-License-Identifier: Apache-2.0

//go:build !amd64

package dense

// kernels are those that run on this machine.
func kernels() map[string]kernel { return map[string]kernel{"go": plainKernel} }
