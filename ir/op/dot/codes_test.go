// SPDX-License-Identifier: Apache-2.0

package dot

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"lathe/ir"
	"lathe/ir/op/arith"
)

// TestSumForms compares what the kernel of exact sums gives with its other forms: kernels of groups of rows, and the
// formula of CodesOf on the codes themselves.
func TestSumForms(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	formulas := 0
	for i := range 200 {
		n := drawSum(r, []operandKind{stepped, scaled}[i%2], []operandKind{stepped, scaled}[i/2%2])
		p, err := New(n)
		if err != nil {
			continue
		}
		rows, terms := p.Size()
		x := ir.NewTensor(n.Args[0].Type)
		drawTensor(r, x)
		in, err := p.Input(n, x)
		if err != nil {
			t.Fatal(err)
		}
		want, got := make([]int64, rows), make([]int64, rows)
		p.Kernel()(in.Row(2, terms), want)
		groups := drawDivisor(r, rows)
		for g, k := range p.Groups(groups) {
			k(in.Row(2, terms), got[g*rows/groups:(g+1)*rows/groups])
		}
		if !slices.Equal(got, want) {
			t.Fatalf("groups of %d of %d rows give %v, want %v", rows/groups, rows, got, want)
		}
		c, err := CodesOf(n)
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
			q := rounded(new(big.Rat).Mul(new(big.Rat).SetInt(sum), arith.TwoTo(-one.Shift)), c.Result.Round)
			if got := entered(q.Add(q, big.NewInt(c.Zero)), c.Result); got != want[row] {
				t.Fatalf("%v to %v: row %d is %d by the formula, want %d", x.Type.Format, n.Type.Format, row, got, want[row])
			}
		}
	}
	if formulas < 100 {
		t.Errorf("%d formulas", formulas)
	}
	blocks := drawSum(r, blocked, blocked)
	if _, err := CodesOf(blocks); err == nil {
		t.Errorf("sums of %v have a formula on codes", blocks.Args[0].Type.Format)
	}
}
