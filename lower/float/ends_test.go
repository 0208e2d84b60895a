// SPDX-License-Identifier: Apache-2.0

package float

import (
	"strings"
	"testing"

	"lathe/ir/text"
	"lathe/lower/pass"
)

// parts of tails.
const (
	soft  = "%p = softmax(%z) {axis = 1} : 1x4 fp32"
	most  = "%a = argmax(%p) {axis = 1} : 1 int(64,over=wrap)"
	most0 = "%a = argmax(%z) {axis = 1} : 1 int(64,over=wrap)"
	label = "%l = gather(%names, %a) {axis = 0} : 1 int(64,over=wrap)"
)

// tails are classifiers behind the logits z: what stands there, the outputs, and where hardware ends.
var tails = []struct {
	name, nodes, outs, want string
	chosen                  bool
}{
	{"softmax", soft, "y = %p", "y=z", false},
	{"log softmax, reshaped", "%p = log_softmax(%z) {axis = 1} : 1x4 fp32\n%r = reshape(%p) {shape = [4]} : 4 fp32",
		"y = %r", "y=z", false},
	{"quantized softmax", soft + "\n%q = quant(%p) {format = \"uint(8)*0.00390625\"} : 1x4 fp32", "y = %q", "y=z", false},
	{"argmax alone stays", "%a = argmax(%z) {axis = 1} : 1 int(64,over=wrap)", "y = %a", "y=a", false},
	{"argmax of softmax", soft + "\n" + most, "y = %a", "y=a(z)", false},
	{"along another axis", "%r = reshape(%z) {shape = [2, 2]} : 2x2 fp32\n%p = softmax(%r) {axis = 1} : 2x2 fp32\n" +
		"%a = argmax(%p) {axis = 0} : 2 int(64,over=wrap)", "y = %a", "y=a", false},
	{"argmax, chosen", soft + "\n" + most,
		"a = %a, z = %z, p = %p", "a=a(z) z=z p=p", true},
	{"label and probabilities", soft + "\n" + most + "\n" + label, "label = %l, probabilities = %p",
		"probabilities=z", false},
	{"label", soft + "\n" + most + "\n" + label + "\n%c = convert(%l) {to = \"i32\"} : 1 int(32,over=wrap)",
		"y = %c", "y=a(z)", false},
	{"logits too", soft, "p = %p, z = %z", "z=z", false},
	{"columns", soft + "\n" +
		"%p0 = slice(%p) {axis = 1, start = 0, count = 1, step = 1} : 1x1 fp32\n" +
		"%p1 = slice(%p) {axis = 1, start = 1, count = 1, step = 1} : 1x1 fp32", "p0 = %p0, p1 = %p1", "p0=z", false},
	{"threshold", "%s = sigmoid(%z) : 1x4 fp32\n" +
		"%g = compare(%s, %half) {rel = \"gt\"} : 1x4 uint(1,over=wrap)", "y = %g, s = %s", "s=s", false},
	{"a label beside scores", most0 + "\n" + label + "\n%i = identity(%z) : 1x4 fp32", "label = %l, z = %i", "z=i", false},
	{"decomposed", "%m = reduce_max(%z) {axes = [1]} : 1x1 fp32\n" +
		"%d = sub(%z, %m) : 1x4 fp32\n%e = exp(%d) : 1x4 fp32\n" +
		"%t = reduce_sum(%e) {axes = [1]} : 1x1 fp32\n%q = div(%e, %t) : 1x4 fp32", "y = %q", "y=z", false},
	{"of inputs", "%p = softmax(%x) {axis = 1} : 1x4 fp32", "y = %p", "y=p", false},
	{"in the middle", soft + "\n%w = add(%p, %z) : 1x4 fp32", "y = %w", "y=w", false},
}

// head begins the graph of a case: z are the logits.
const head = `lathe 1
graph %g float(%x) {
%x = input : 1x4 fp32
%names = const {data = i64 [3, 1, 4, 5]} : 4 int(64,over=wrap)
%half = const {data = f32 [0.5]} : scalar fp32
%z = tanh(%x) : 1x4 fp32
`

// TestEnd: a classifier ends where hardware can, and the largest stays where it was.
func TestEnd(t *testing.T) {
	for _, c := range tails {
		g, err := text.Parse("t.lathe", head+c.nodes+"\nreturn "+c.outs+"\n}\n", nil)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		ended, report, err := End(t.Context(), g, c.chosen, pass.Options{Verify: true})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		notes := report.Notes
		var got []string
		for _, o := range ended.Out {
			end := o.Name + "=" + o.Node.Name
			if o.Node.Op.Traits.Positions != nil && len(notes) > 0 {
				end += "(" + o.Node.Args[0].Name + ")"
			}
			got = append(got, end)
		}
		if strings.Join(got, " ") != c.want || (text.Print(ended) == text.Print(g)) != (len(notes) == 0) {
			t.Errorf("%s: %v, want %s; notes %q", c.name, got, c.want, notes)
		}
		if err := ended.Check(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
