// SPDX-License-Identifier: Apache-2.0

//go:build !amd64

package dense

func fastest() kernel { return plainKernel }
