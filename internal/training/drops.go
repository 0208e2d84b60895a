// SPDX-License-Identifier: Apache-2.0

package training

import (
	"lathe/internal/diag"
	"lathe/ir"
)

// mostModelDrop is the greatest share that a dropout of a model file may have: it may be more than plans can ask for.
const mostModelDrop = 0.99

// drops are the shares of the dropouts of the model file, by the node of the model that is trained behind which they
// stand; nil where the plan does not ask for them. Error L1003 for one that has no place there.
func (p *prepared) drops() (map[string]float64, error) {
	if !p.plan.Train.ModelDropout {
		return nil, nil
	}
	var list []ir.Drop
	if o := p.imported.Origin; o != nil {
		list = o.Drops
	}
	out := map[string]float64{}
	for _, d := range list {
		if d.Rate == 0 {
			continue
		}
		n := p.behind(d.Behind)
		if n == nil || !(d.Rate > 0 && d.Rate <= mostModelDrop) {
			return nil, diag.New(diag.NothingToTrain, p.imported.Name, "the dropout of %s of %q has no place in the model that "+
				"is trained", diag.Number(d.Rate, 3), d.Behind).WithHint("set dropout = 0.1 in [train], and the layers that it " +
				"stands before in dropout_of")
		}
		out[n.Name] = 1 - (1-out[n.Name])*(1-d.Rate)
	}
	if len(out) == 0 {
		return nil, diag.New(diag.NothingToTrain, p.imported.Name, "dropout = \"model\", and the model file has no dropouts").
			WithHint("set dropout = 0.1 in [train], or train the file that PyTorch exports: graphs that Lathe saves and ONNX " +
				"files that are exported for inference have none")
	}
	return out, nil
}

// behind is the node of the graph that is trained whose result is that of a node of the imported graph: the node
// itself, or a layer that it has become part of, as normalizations and activations do. nil where there is none.
func (p *prepared) behind(name string) *ir.Node {
	readers := p.imported.Readers()
	for n := p.imported.Find(name); n != nil; n = n.Args[0] {
		if made := p.model.Graph().Find(n.Name); made != nil && !made.IsConst() {
			return made
		}
		if len(n.Args) == 0 || readers[n.Args[0]] != 1 {
			return nil
		}
	}
	return nil
}
