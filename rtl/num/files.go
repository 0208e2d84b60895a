// SPDX-License-Identifier: Apache-2.0

package num

import "embed"

// Files are the modules of this folder, one a file.
//
//go:embed *.sv
var Files embed.FS
