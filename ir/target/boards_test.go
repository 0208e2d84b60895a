// SPDX-License-Identifier: Apache-2.0

package target

import (
	"strings"
	"testing"

	"lathe/internal/diag"
)

// TestBoards: who names a board is told of the device on it, which is known.
func TestBoards(t *testing.T) {
	for _, b := range boards {
		if d, err := Find(b.device); err != nil || d.Name != b.device {
			t.Errorf("%s: %v", b.names, err)
		}
		for _, name := range strings.Fields(b.names) {
			_, err := Find(strings.ToUpper(strings.ReplaceAll(name, "-", "_")))
			if diag.CodeOf(err) != diag.UnknownPart || !strings.Contains(err.Error(), "use "+b.device) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}
