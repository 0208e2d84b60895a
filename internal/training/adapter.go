// SPDX-License-Identifier: Apache-2.0

package training

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"lathe/frontend/peft"
	"lathe/train"
	"lathe/train/model"
)

// writeAdapter writes the adapters of training, and what was trained beside them, into a folder below that of training,
// and returns it. Where a matrix is not that of the model file, since a pass has changed it, note says so and nothing
// is written.
func (t *Task) writeAdapter(p *prepared, r *train.Result) (dir, note string, err error) {
	if t.Source.Adapter != "" {
		return "", "no adapter folder is written: the model of " + t.Source.Adapter + " is in no file of its own", nil
	}
	lora := p.plan.LoRA
	a := &peft.Adapter{Base: t.Source.Model, Rank: lora.Rank, Alpha: lora.Alpha}
	for i := 0; i+1 < len(r.Adapters); i += 2 {
		name := strings.TrimSuffix(r.Adapters[i].Name, ".lora_A")
		j := slices.IndexFunc(p.model.Params, func(q model.Param) bool { return q.Name == name })
		if j < 0 || !p.unchanged(&p.model.Params[j]) {
			return "", fmt.Sprintf("no adapter folder is written: %q is not as the model file has it", name), nil
		}
		a.Products = append(a.Products, peft.Product{Module: strings.TrimSuffix(name, ".weight"), A: matrix(&r.Adapters[i]),
			B: matrix(&r.Adapters[i+1])})
	}
	targets := map[string]bool{}
	for _, product := range a.Products {
		targets[product.Module] = true
	}
	also := func(q model.Param) bool { return slices.ContainsFunc(lora.Also, q.Named) }
	var whole []string // modules: PEFT keeps all of one, but of those with adapters biases alone
	for _, q := range p.model.Params {
		if also(q) && !targets[peft.Module(q.Name)] {
			whole = append(whole, peft.Module(q.Name))
		}
	}
	for i := range p.model.Params {
		q := &p.model.Params[i]
		if !slices.Contains(whole, peft.Module(q.Name)) && !also(*q) {
			continue
		}
		if !p.unchanged(q) {
			return "", fmt.Sprintf("no adapter folder is written: %q is not as the model file has it", q.Name), nil
		}
		a.Whole = append(a.Whole, peft.Matrix{Name: q.Name, Shape: q.Shape, Values: r.Values[i]})
	}
	dir = filepath.Join(t.Folder, "adapter")
	return dir, "", peft.Write(dir, a)
}

func matrix(p *model.Param) peft.Matrix { return peft.Matrix{Shape: p.Shape, Values: p.Start} }

// unchanged says that training began with the values that a constant of the same name has in the model file.
func (p *prepared) unchanged(q *model.Param) bool {
	n := p.imported.Find(q.Name)
	if n == nil || !n.IsConst() || !slices.Equal(n.Type.Shape, q.Shape) {
		return false
	}
	v, err := n.Value()
	return err == nil && slices.Equal(v.Floats, q.Start)
}
