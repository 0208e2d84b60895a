// SPDX-License-Identifier: Apache-2.0

// Package mlir is the parser of MLIR text that scripts/parser generates from Mlir.g4.
package mlir
