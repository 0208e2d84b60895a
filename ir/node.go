// SPDX-License-Identifier: Apache-2.0

// Package ir is the dataflow graph that all stages of the compiler exchange.
package ir

// Node is one operation. It has exactly one result, named like the node.
type Node struct {
	// Name is unique in the graph; plan rules match on it.
	Name string
	Op   *Op
	Args []*Node
	// Attrs is nil or a pointer to the struct that Op.Attrs declares.
	Attrs any
	Type  Type
	HW    HW
	Stats Stats
	// Pos is the place in the source model, module path included: "model.onnx: conv1 (Conv)".
	Pos string
}

// Const is the attributes of a constant node.
type Const struct {
	Data *Blob
	// Own is the format that the source model itself gives to these values, which all are values of its codes; its
	// Format is nil where the model leaves them float, and in quantized graphs. Its Shape is not used.
	Own Type
}

// IsConst says that n is a constant.
func (n *Node) IsConst() bool {
	_, ok := n.Attrs.(*Const)
	return ok
}

// Value returns the tensor of a constant node, or an error for any other node.
func (n *Node) Value() (*Tensor, error) {
	c, ok := n.Attrs.(*Const)
	if !ok {
		return nil, n.Errorf("L0315", "%q is no constant", n.Name)
	}
	t, err := c.Data.Tensor(n.Type)
	if err != nil {
		return nil, n.Errorf("L0301", "%v", err)
	}
	return t, nil
}

// Input is the attributes of an input node.
type Input struct {
	// Perm, if not nil, adapts the caller's layout: axis i of the node's value is axis Perm[i] of the caller's array.
	Perm []int
}
