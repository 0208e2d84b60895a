// SPDX-License-Identifier: Apache-2.0

package op

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"lathe/ir"
)

// TestSumForms compares what the kernel of exact sums gives with its other forms: kernels of groups of rows, and the
// formula of LinearCodes on the codes themselves.
func TestSumForms(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	formulas := 0
	for i := range 200 {
		n := drawSum(r, []operandKind{stepped, scaled}[i%2], []operandKind{stepped, scaled}[i/2%2])
		p, err := PlanSum(n)
		if err != nil {
			continue
		}
		rows, terms := p.Size()
		x := ir.NewTensor(n.Args[0].Type)
		drawTensor(r, x)
		in, err := p.input(n, x)
		if err != nil {
			t.Fatal(err)
		}
		want, got := make([]int64, rows), make([]int64, rows)
		p.kernel()(in.row(2, terms), want)
		groups := drawDivisor(r, rows)
		for g, k := range p.groups(groups) {
			k(in.row(2, terms), got[g*rows/groups:(g+1)*rows/groups])
		}
		if !slices.Equal(got, want) {
			t.Fatalf("groups of %d of %d rows give %v, want %v", rows/groups, rows, got, want)
		}
		c, err := LinearCodes(n)
		if err != nil {
			continue // sums of more than 63 bits
		}
		formulas++
		for row, one := range c.Channels {
			sum := new(big.Int)
			for j, q := range x.Codes[2*terms : 3*terms] {
				sum.Add(sum, new(big.Int).Mul(big.NewInt(q), big.NewInt(c.Weights[row*terms+j])))
			}
			sum.Lsh(sum, one.Up).Add(sum, big.NewInt(one.Bias)).Mul(sum, big.NewInt(one.Mul))
			q := rounded(new(big.Rat).Mul(new(big.Rat).SetInt(sum), twoTo(-one.Shift)), c.Result.Round)
			if got := entered(q.Add(q, big.NewInt(c.Zero)), c.Result); got != want[row] {
				t.Fatalf("%v to %v: row %d is %d by the formula, want %d", x.Type.Format, n.Type.Format, row, got, want[row])
			}
		}
	}
	if formulas < 100 {
		t.Errorf("%d formulas", formulas)
	}
	blocks := drawSum(r, blocked, blocked)
	if _, err := LinearCodes(blocks); err == nil {
		t.Errorf("sums of %v have a formula on codes", blocks.Args[0].Type.Format)
	}
}
