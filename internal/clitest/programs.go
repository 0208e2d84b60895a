// SPDX-License-Identifier: Apache-2.0

package clitest

import (
	"strings"

	"lathe/frontend/torch/pt2test"
)

// programs are archives of torch.export, and what users take for them; but for model.pt2 none can be imported.
func programs() map[string][]byte {
	const x, w = "input x f32 1x8\n", "param fc1.weight f32 4x8\n"
	const fc = "y f32 1x4 = linear.default input=%x weight=%fc1.weight @ fc1:torch.nn.modules.linear.Linear\noutput y\n"
	bare := pt2test.New(x + w + fc)
	delete(bare.Model["graph_module"].(pt2test.Object), "graph")
	of := func(text string) []byte { return pt2test.New(text).Archive() }
	return map[string][]byte{
		"model.pt2":       of(x + w + fc),
		"fed.pt2":         of(x + "input w f32 4x8\n" + strings.Replace(fc, "%fc1.weight", "%w", 1)),
		"dots.pt2":        pt2test.Zip(pt2test.Member{Name: "model/../../x"}),
		"pickle.pt":       []byte("\x80\x02ctorch\nload\n."),
		"no-program.pt2":  pt2test.Zip(pt2test.Member{Name: "model/readme"}),
		"no-graph.pt2":    bare.Archive(),
		"long-weight.pt2": of(x + "param fc1.weight f32 4x8 elems=31\n" + fc),
		"in-place.pt2": of(x + "a f32 1x8 = sigmoid.default self=%x\nb f32 8x1 = permute.default self=%a dims=[1,0]\n" +
			"c f32 1x8 = relu_.default self=%a\ny f32 8x1 = relu.default self=%b\noutput c\noutput y\n"),
		"dropout.pt2":     of(x + "y f32 1x8 = dropout.default input=%x p=0.5 train=true\noutput y\n"),
		"other-shape.pt2": of(x + "y f32 1x4 = relu.default self=%x\noutput y\n"),
	}
}
