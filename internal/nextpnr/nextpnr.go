// SPDX-License-Identifier: Apache-2.0

// Package nextpnr finds the tools that place and route, where scripts/setup --route puts them.
package nextpnr

import (
	"os"
	"path/filepath"
	"strings"
)

// Find looks for the Python package of a family (target.Router.Package) in a folder of tools. It returns where the
// package lies, or would lie, and its version, "" where its description is lost. The error is that of a package that
// is not there.
func Find(tools, family string) (folder, version string, err error) {
	folder = filepath.Join(tools, "yowasp_nextpnr_"+family)
	if _, err := os.Stat(folder); err != nil {
		return folder, "", err
	}
	if found, err := filepath.Glob(folder + "-*.dist-info"); err == nil && len(found) > 0 {
		version = strings.TrimSuffix(strings.TrimPrefix(found[0], folder+"-"), ".dist-info")
	}
	return folder, version, nil
}
