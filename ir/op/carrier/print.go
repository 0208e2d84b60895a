// SPDX-License-Identifier: Apache-2.0

package carrier

import (
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/hlo"
)

// Print prints node n for the given values of its arguments; those of constants are zero Values. A value has the shape
// of its node, or that behind an axis of samples: that of n has one where some argument has one. Error L0310 for an
// operation without a StableHLO form.
func Print(b *hlo.Builder, n *ir.Node, args []hlo.Value) (hlo.Value, error) {
	v, err := Unrounded(b, n, args)
	if err != nil || n.IsConst() {
		return v, err
	}
	return Rounded(b, n, v), b.Err()
}

// Rounded rounds v to the values of n, where n is a float of 16 bits; what n only moves is rounded.
func Rounded(b *hlo.Builder, n *ir.Node, v hlo.Value) hlo.Value {
	moved := n.Op.Traits.KeepsCodes && n.Args[0].Type.Format == n.Type.Format
	if h, half := n.Type.Half(); half && !moved {
		return h.RoundHLO(b, v)
	}
	return v
}

// Unrounded is Print without the rounding of a result in a float of 16 bits.
func Unrounded(b *hlo.Builder, n *ir.Node, args []hlo.Value) (hlo.Value, error) {
	if n.Op.HLO == nil {
		return hlo.Value{}, n.Errorf(diag.ReferenceOnly, "%s has no StableHLO form in this version", n.Op.Name)
	}
	outer := b.Samples
	defer func() { b.Samples = outer }()
	b.Samples = 0
	for i, v := range args {
		if PerSample(n, i, v) {
			b.Samples = v.Type().Dims[0]
		}
	}
	return n.Op.HLO(b, n, args)
}

// PerSample says that v, the value of argument i, has an axis of samples.
func PerSample(n *ir.Node, i int, v hlo.Value) bool {
	return v.Type().Rank() > len(n.Args[i].Type.Shape)
}

// Value is argument i: what was printed for it, or the constant as a weight.
func Value(b *hlo.Builder, n *ir.Node, args []hlo.Value, i int) (hlo.Value, error) {
	if n.Args[i].IsConst() {
		return Const(b, n.Args[i])
	}
	return args[i], nil
}

// EachSample is argument i with the axis of samples that the node has: what all samples share is repeated along it.
func EachSample(b *hlo.Builder, n *ir.Node, args []hlo.Value, i int) (hlo.Value, error) {
	v, err := Value(b, n, args, i)
	if err != nil || PerSample(n, i, v) || b.Samples == 0 {
		return v, err
	}
	return b.BroadcastTo(v, b.Dims(n.Args[i].Type.Shape...)...), b.Err()
}
