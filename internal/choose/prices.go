// SPDX-License-Identifier: Apache-2.0

package choose

import (
	"context"
	"slices"

	"lathe/internal/driver"
	"lathe/lower/plan"
)

// byDigits is a plan whose weights are rounded by digits at a price; p does not change.
func byDigits(p *plan.Plan, price float64) *plan.Plan {
	out := *p
	out.Quantize.RoundWeights, out.Quantize.DigitPrice = plan.RoundDigits, &price
	return &out
}

// Prices are those that auto tries where the plan unrolls all layers and does not choose a rounding: nil elsewhere.
func Prices(p *plan.Plan) []float64 {
	if p.Fold.Mode != "unroll" || p.Quantize.RoundWeights != plan.RoundNearest {
		return nil
	}
	return []float64{1e-5, 1e-4, 1e-3}
}

// priceText is what the name of a plan says of the price of a digit; "" without one.
func priceText(price *float64) string {
	if price == nil {
		return ""
	}
	return " digits " + plan.TOML(*price)
}

// digits measures the candidates that keep enough and that nothing beats, each with its weights rounded by digits at
// each price: sums that weights are wired into become less by that.
func (t *Meter) digits(ctx context.Context, a *Auto, p driver.Progress) error {
	if len(t.Prices) == 0 {
		return nil
	}
	var points []*Point
	for i := range a.Candidates {
		points = append(points, &a.Candidates[i].Point)
	}
	var from []Candidate
	for i, best := range front(points) {
		if c := a.Candidates[i]; best && c.Met {
			from = append(from, c)
		}
	}
	for i, c := range from {
		tell(p, "prices of digits", i, len(from))
		for _, price := range t.Prices {
			next := Candidate{Name: c.Name, Formats: slices.Clone(c.Formats), Uniform: c.Uniform, Price: &price}
			if err := t.candidate(ctx, a, next, byDigits(c.plan, price)); err != nil {
				return err
			}
		}
	}
	return nil
}
