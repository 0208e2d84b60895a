// SPDX-License-Identifier: Apache-2.0

//go:build long

package route

import (
	"testing"

	"lathe/internal/tools"
	"lathe/ir/target"
)

// TestHolds: parts hold what the table of parts says.
func TestHolds(t *testing.T) {
	for _, part := range target.RoutedNames() {
		d, err := target.Find(part)
		if err != nil {
			t.Fatal(err)
		}
		tool := tools.NeedRoute(t, d.Family.Router.Package)
		r, err := Route(t.Context(), folder(t), Options{Part: part, Tools: tool, Seeds: 1})
		if err != nil {
			t.Fatal(err)
		}
		if r.Holds != holds(t, part) {
			t.Errorf("%s holds %+v", part, r.Holds)
		}
	}
}
