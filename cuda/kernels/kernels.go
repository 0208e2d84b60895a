// SPDX-License-Identifier: Apache-2.0

// Package kernels holds the text of the kernel library: one function template a file, in the folders of the packages
// that launch them, and headers.
package kernels

import "embed"

// Files are the kernels and the headers.
//
//go:embed *.cuh */*.cuh */*.cu
var Files embed.FS
