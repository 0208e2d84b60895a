// SPDX-License-Identifier: Apache-2.0

package torch

import (
	"strings"
	"testing"

	"lathe/frontend/source"
	"lathe/frontend/torch/pt2test"
)

// TestOutputNames takes the names of outputs from the tree of what forward returns.
func TestOutputNames(t *testing.T) {
	const leaf = `{"type":null,"context":null,"children_spec":[]}`
	tree := func(kind, context string, children ...string) string {
		return `{"type":"` + kind + `","context":` + context + `,"children_spec":[` + strings.Join(children, ",") + `]}`
	}
	for spec, want := range map[string]string{
		`[1,` + tree("builtins.dict", `"[\"logits\", \"hidden\"]"`, leaf, leaf) + `]`: "logits hidden",
		`[1,` + tree("m.Output", `"[\"logits\", \"past\"]"`, tree("builtins.tuple", `"null"`, leaf),
			tree("builtins.list", `"null"`, leaf)) + `]`: "logits.0 past.0",
		`[1,` + tree("builtins.tuple", `"null"`, leaf, tree("builtins.dict", `"[\"a\"]"`, leaf)) + `]`: "p 1.a",
		`[1,` + tree("builtins.tuple", `"null"`, leaf, leaf) + `]`:                                     "p q",
		`[1,` + tree("builtins.dict", `"[\"logits\"]"`, leaf) + `]`:                                    "p q",
		`[1,` + tree("builtins.dict", `"[\"a\", \"a\"]"`, leaf, leaf) + `]`:                            "p q",
		`[2,` + tree("builtins.dict", `"[\"a\", \"b\"]"`, leaf, leaf) + `]`:                            "p q",
		`[1,` + tree("builtins.dict", `"[1, 2]"`, leaf, leaf) + `]`:                                    "p q",
		`[1`: "p q", `[1, 2]`: "p q",
	} {
		p := pt2test.New("input x f32 2\np f32 2 = relu.default self=%x\nq f32 2 = neg.default self=%x\n" +
			"output p\noutput q")
		p.Model["graph_module"].(pt2test.Object)["module_call_graph"] = []any{
			pt2test.Object{"fqn": "", "signature": pt2test.Object{"out_spec": spec}}}
		g, err := Parse("m.pt2", p.Archive(), source.Options{})
		if err != nil {
			t.Errorf("%s: %v", spec, err)
			continue
		}
		var names []string
		for _, o := range g.Out {
			names = append(names, o.Name)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s: outputs %s, want %s", spec, got, want)
		}
	}
}
