// SPDX-License-Identifier: Apache-2.0

package route

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// TestClocks: MHz is about the core's clock, even where that of the streams is slower; without one, about the slowest.
func TestClocks(t *testing.T) {
	n := &nextpnr{design: &design{signals: map[string]string{"restart.other": "core_clk"}}}
	for _, c := range []struct {
		fmax, first string
		want        []Clock
	}{
		{`"ap_clk": {"achieved": 50}, "$glbnet$core_clk$TRELLIS_IO_IN": {"achieved": 90}`, "$glbnet$core_clk$TRELLIS_IO_IN",
			[]Clock{{"core_clk", 90}, {"ap_clk", 50}}},
		{`"ap_clk": {"achieved": 50}, "restart.other": {"achieved": 90}`, "restart.other",
			[]Clock{{"core_clk", 90}, {"ap_clk", 50}}},
		{`"a": {"achieved": 50}, "b": {"achieved": 40}`, "b", []Clock{{"b", 40}, {"a", 50}}},
	} {
		var w written
		if err := json.Unmarshal([]byte(`{"fmax": {`+c.fmax+`}}`), &w); err != nil {
			t.Fatal(err)
		}
		first, all := n.clocks(&w)
		if first != c.first || !slices.Equal(all, c.want) {
			t.Errorf("%s: %q of %v, want %q of %v", c.fmax, first, all, c.first, c.want)
		}
		r := Report{MHz: all[0].MHz, MHzSeeds: []float64{1}, Clocks: all}
		var table strings.Builder
		if err := r.Table(&table); err != nil || !strings.Contains(table.String(), "MHz of "+all[0].Name+", routed") ||
			!strings.Contains(table.String(), "50 MHz of a") {
			t.Errorf("%v, %s", err, table.String())
		}
	}
}
