// SPDX-License-Identifier: Apache-2.0

// Package axi holds the text of the modules of this folder.
package axi

import "embed"

// Files are the modules, one a file.
//
//go:embed *.sv
var Files embed.FS
