// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"lathe/frontend/recurrent"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/lower/lowertest"
	"lathe/lower/quantize"
)

// hintedNets are random networks of all kinds, by seed.
func hintedNet(t *testing.T, seed uint64) *ir.Graph {
	switch seed % 4 {
	case 0:
		return lowertest.RandomCNN(t, seed)
	case 1:
		return lowertest.Recurrent(t, seed, []recurrent.Kind{recurrent.LSTM, recurrent.GRU, recurrent.RNN}[seed/4%3])
	case 2:
		return lowertest.Branching(t, seed)
	}
	g, _ := lowertest.Layers(t, seed)
	return g
}

// TestHintedRates: a rate that an error names is one that the same plan reaches, whatever the network, the part and the
// bounds. Rates are asked for that nothing reaches, and then thrice and a tenth more than the one named.
func TestHintedRates(t *testing.T) {
	named := 0
	for seed := range uint64(hintedNets) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			g := hintedNet(t, seed)
			keys := []string{"", "", "max_dsp = 9\n", "max_lut = 9000\n", "[unroll]\nauto = true\n"}[seed%5]
			target := []string{"", "part = \"xc7a35tcpg236-1\"", "part = \"ecp5-25k\"\nclock_mhz = 80"}[seed/2%3]
			run := func(fps string) error {
				p := lowertest.Plan(t, fmt.Sprintf("[target]\n%s\n[fold]\nmode = \"balance\"\nfps = %s\n%s", target, fps, keys))
				q, _, err := quantize.Run(context.Background(), g, p, quantize.Calibration{}, quantize.Options{})
				if err != nil {
					t.Fatal(err)
				}
				_, _, err = Run(context.Background(), q, p, Options{})
				return err
			}
			most := hinted(t, run("1e9"))
			if most == "" {
				return
			}
			named++
			for _, by := range []float64{1, 3, 1.1} {
				var rate float64
				fmt.Sscan(most, &rate)
				err := run(fmt.Sprintf("%.6g", rate*by))
				if again := hinted(t, err); again != "" {
					if by == 1 {
						t.Fatalf("fps = %s, which an error named: %v", most, err)
					}
					if err := run(again); err != nil {
						t.Fatalf("fps = %s, which an error named: %v", again, err)
					}
				}
			}
		})
	}
	if named < hintedNets/2 {
		t.Errorf("%d of %d networks have a rate named", named, hintedNets)
	}
}

// hinted is the rate that an error names; "" where there is no error, or no design at any rate.
func hinted(t *testing.T, err error) string {
	if err == nil {
		return ""
	}
	if code := diag.CodeOf(err); code != diag.UnreachableRate && code != diag.RateOverBudget {
		t.Fatal(err)
	}
	_, hint, ok := strings.Cut(err.Error(), "fps = ")
	for next := ok; next; { // the last one: the first may be the rate asked for
		var more string
		if _, more, next = strings.Cut(hint, "fps = "); next {
			hint = more
		}
	}
	if strings.Contains(err.Error(), "at any rate") {
		return ""
	}
	rate, _, ok := strings.Cut(hint, ",")
	if !ok {
		t.Fatalf("no rate in the hint: %v", err)
	}
	return rate
}

// TestHintedBounds: where no folding meets the bounds of a plan, those that the error names are met, at the rate that
// it names where the plan asks for one.
func TestHintedBounds(t *testing.T) {
	named := 0
	for seed := range uint64(boundedNets) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			g := hintedNet(t, seed)
			target := []string{"", "part = \"ecp5-25k\"\nclock_mhz = 80"}[seed/2%2]
			run := func(keys string) error {
				p := lowertest.Plan(t, fmt.Sprintf("[target]\n%s\n[fold]\nmode = \"balance\"\n%s", target, keys))
				q, _, err := quantize.Run(context.Background(), g, p, quantize.Calibration{}, quantize.Options{})
				if err != nil {
					t.Fatal(err)
				}
				_, _, err = Run(context.Background(), q, p, Options{})
				return err
			}
			keys := []string{"max_lut = 20\n", "max_lut = 20\nmax_ff = 30\n", "max_dsp = 1\nmax_ff = 10\n"}[seed%3]
			for _, rate := range []string{"", "fps = 1e6\n"} {
				err := run(rate + keys)
				if err == nil {
					t.Fatalf("%s is enough", keys)
				}
				raised := keys // the last of equal keys would be an error
				for _, pair := range assigned.FindAllStringSubmatch(hintedText.FindString(err.Error()), -1) {
					raised = regexp.MustCompile(`(?m)^`+pair[1]+` = .*\n`).ReplaceAllString(raised, "") + pair[0] + "\n"
				}
				if raised == keys || rate != "" && !strings.Contains(raised, "fps") {
					t.Fatalf("nothing named: %v", err)
				}
				if err := run(raised); err != nil {
					t.Errorf("%s, after which an error named %s: %v", rate+keys, raised, err)
				}
				named++
			}
		})
	}
	if named != 2*boundedNets {
		t.Errorf("%d of %d bounds have others named", named, 2*boundedNets)
	}
}

var (
	hintedText = regexp.MustCompile(`raise the bound to [^,]*`)
	assigned   = regexp.MustCompile(`(\w+) = [0-9.e+]+`)
)
