// SPDX-License-Identifier: Apache-2.0

//go:build long

package cli_test

import (
	"path/filepath"
	"testing"
)

// TestScriptsLong runs testdata/long/*.txtar: models whose hardware takes long to build, proven from the command line.
// internal/driver and internal/difftest/hardware prove what they consist of in the short run.
func TestScriptsLong(t *testing.T) { runScripts(t, filepath.Join("testdata", "long", "*.txtar"), 4) }
