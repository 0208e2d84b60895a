// SPDX-License-Identifier: Apache-2.0

package sweeps

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"lathe/internal/diag"
	"lathe/ir/format"
	"lathe/lower/plan"
)

// Kind is what a sweep varies.
type Kind struct {
	Name string
	// X names what varies, and Column the column of the table that holds it.
	X, Column string
	// Before and After are what accuracies are called that are measured before and after training. Before is "" where
	// nothing is measured before.
	Before, After string
	// Costs says that accuracy is drawn against LUTs alone, Quantized that formats are what is varied.
	Costs, Quantized bool

	settings func(*Ranges) ([]setting, error)
}

// Kinds are all sweeps.
var Kinds = []Kind{
	{Name: "ptq-qat", X: "bits of a weight", Column: "format", Before: "PTQ", After: "QAT", Quantized: true,
		settings: formats},
	{Name: "prune", X: "share of zeros", Column: "sparsity", Before: "pruned", After: "trained", settings: shares},
	{Name: "lora", X: "rank", Column: "rank", After: "trained", settings: ranks},
	{Name: "bits", X: "price of a bit", Column: "price", After: "trained", Costs: true, Quantized: true,
		settings: prices},
}

// KindOf is the kind of a name; false for others.
func KindOf(name string) (Kind, bool) {
	i := slices.IndexFunc(Kinds, func(k Kind) bool { return k.Name == name })
	if i < 0 {
		return Kind{}, false
	}
	return Kinds[i], true
}

// Ranges are what is tried; each kind reads its own.
type Ranges struct {
	// Formats are those of ptq-qat, of weights, data or both.
	Formats      []string
	Weight, Data bool
	// Methods and Shares are of prune: shares of zeros, "0.5", or how many weights stay of how many, "2:4".
	Methods []string
	Shares  []string
	// Ranks are those of lora.
	Ranks []int
	// Prices are those of bits.
	Prices []float64
}

// setting is one of the values that a sweep tries.
type setting struct {
	series string  // what is drawn as one curve; "" where there is one
	label  string  // in the table
	x      float64 // in the plot
	change func(*plan.Plan) (*plan.Plan, error)
}

// changed copies a plan for a change that cannot fail.
func changed(change func(*plan.Plan)) func(*plan.Plan) (*plan.Plan, error) {
	return func(p *plan.Plan) (*plan.Plan, error) {
		out := *p
		change(&out)
		return &out, nil
	}
}

func formats(r *Ranges) ([]setting, error) {
	var out []setting
	for _, f := range r.Formats {
		p, err := format.ParsePattern(f)
		if err != nil {
			return nil, err
		}
		bits := float64(p.W)
		if b, ok := p.Format.(format.Block); ok {
			bits += float64(b.ScaleWidth()) / float64(b.BlockSize()*b.BlockRows())
		}
		out = append(out, setting{series: family(f), label: f, x: bits, change: func(p *plan.Plan) (*plan.Plan, error) {
			return p.Uniform("--formats", f, r.Weight, r.Data)
		}})
	}
	return out, nil
}

// family is the name of a format, the letters in front of its numbers.
func family(f string) string {
	if i := strings.IndexAny(f, "([0123456789"); i >= 0 {
		return f[:i]
	}
	return f
}

func shares(r *Ranges) ([]setting, error) {
	var out []setting
	for _, method := range r.Methods {
		for _, share := range r.Shares {
			n, m, zeros, err := readShare(share)
			if err != nil {
				return nil, err
			}
			s := setting{series: method, label: method + " " + share, x: zeros, change: changed(func(p *plan.Plan) {
				if m > 0 {
					p.Prune.Channels, p.Prune.Residual = false, false // nm keeps single weights
				}
				if !p.Prune.Given {
					p.Prune = plan.Prune{Given: true, Scope: plan.ScopeWords[0], Schedule: plan.PruneSchedules[0]}
				}
				p.Prune.Method, p.Prune.N, p.Prune.M, p.Prune.Sparsity = method, n, m, zeros
				if m > 0 {
					p.Prune.Sparsity, p.Prune.Schedule = 0, plan.PruneSchedules[0] // groups are cut at once
				}
			})}
			if m > 0 {
				s.series += ", N:M"
			}
			out = append(out, s)
		}
	}
	return out, nil
}

// readShare reads a share of zeros, "0.5", or N of M weights that stay, "2:4".
func readShare(text string) (n, m int, zeros float64, err error) {
	if _, e := fmt.Sscanf(text, "%d:%d", &n, &m); e == nil && text == fmt.Sprintf("%d:%d", n, m) && n > 0 && n < m {
		return n, m, 1 - float64(n)/float64(m), nil
	}
	if zeros, err = strconv.ParseFloat(text, 64); err != nil || !(zeros > 0 && zeros < 1) {
		return 0, 0, 0, diag.New(diag.Usage, "", "--sparsities %s is neither a share between 0 and 1 nor N:M, such as 2:4",
			text)
	}
	return 0, 0, zeros, nil
}

func ranks(r *Ranges) ([]setting, error) {
	var out []setting
	for _, rank := range r.Ranks {
		if rank < 1 {
			return nil, outside("ranks", float64(rank), "a rank is 1 or more")
		}
		out = append(out, setting{label: fmt.Sprint(rank), x: float64(rank), change: changed(func(p *plan.Plan) {
			if p.LoRA.Rank == 0 {
				p.LoRA.Targets = []string{"*"}
			}
			p.LoRA.Rank, p.LoRA.Alpha = rank, float64(rank)
		})})
	}
	return append(out, setting{label: "all", x: 0, series: "all parameters", change: changed(func(p *plan.Plan) {
		p.LoRA = plan.LoRA{}
	})}), nil
}

func prices(r *Ranges) ([]setting, error) {
	var out []setting
	for _, price := range r.Prices {
		if !(price >= 0) || math.IsInf(price, 1) {
			return nil, outside("prices", price, "a price is 0 or more")
		}
		out = append(out, setting{label: fmt.Sprintf("%g", price), x: price, change: changed(func(p *plan.Plan) {
			if !p.Bits.Given {
				p.Bits.Given, p.Bits.Per, p.Bits.Data = true, plan.PerWords[0], plan.DataWords[0]
			}
			p.Bits.Price, p.Bits.From = price, price
		})})
	}
	return out, nil
}

func outside(flag string, v float64, reason string) error {
	return diag.New(diag.Usage, "", "--%s %g: %s", flag, v, reason)
}
