// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"context"
	"fmt"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/ring"
	"lathe/ir/unit"
	"lathe/lower/schedule/tokens/beat"
)

// Lockstep runs one frame of tokens through the units of a scheduled graph of one input: the first of them without a
// pause, each of the others when all outputs of those before it have left. The frames of the result are tokens. Since a
// beat cannot depend on what comes later, a design that goes through computes each token from those up to it. Error
// L0435 names the unit that holds a token back, or the output that does not wait for its token.
func Lockstep(ctx context.Context, g *ir.Graph, units *unit.Cache, tokens, first int) (*Times, error) {
	g = ring.Units(g)
	n, err := build(g, options{frames: 1, tokens: tokens, known: newKnown(units), depth: scheduled})
	if err != nil {
		return nil, err
	}
	n.Lockstep(first)
	took, gave := map[*ir.Node][]*beat.Counter{}, map[*ir.Node][]*beat.Counter{}
	for node, wires := range n.results {
		for _, w := range wires {
			gave[node] = append(gave[node], w.Watch(1))
		}
	}
	for node, wires := range n.streams {
		for _, w := range wires {
			took[node] = append(took[node], w.Watch(1))
		}
	}
	t, err := n.times(ctx, len(g.Out))
	if err != nil {
		return nil, err
	}
	if !t.Done {
		return nil, n.holder(g, tokens, took, gave)
	}
	for i, o := range g.Out {
		for token, last := range t.Last[i] {
			if last < t.In[0][token] {
				return nil, o.Node.Errorf(diag.NoDecoder, "token %d of output %q does not depend on the token that comes in", token,
					o.Name).WithHint("a decoder gives the outputs of a token when it has come")
			}
		}
	}
	return t, nil
}

// apart is how a model would not have n hold tokens back.
func apart(n *ir.Node) string {
	if n.MeetsAcross() && n.Args[0].Type.InBlocks() {
		return fmt.Sprintf("its blocks span several tokens: give it fixed values, data_in = \"fixed(16)\" in a rule for %s",
			n.Op.Name)
	}
	return "a decoder computes each token from those before it: take a causal model, without masks of keys and without " +
		"what joins all tokens"
}

// holder names the unit that keeps a net from going on: it has all that there is of its arguments, or waits for one
// while another is there, and does not give what it has of the tokens so far.
func (n *net) holder(g *ir.Graph, tokens int, took, gave map[*ir.Node][]*beat.Counter) error {
	in := len(n.in[0].Last) // tokens that have come whole
	turns := ring.Turns(g)
	share := func(node *ir.Node) int { return in * beats(node) / tokens * max(turns[node], 1) }
	for _, node := range g.Nodes {
		wires := n.streams[node]
		if len(wires) == 0 {
			continue
		}
		whole, i := true, 0
		for _, a := range node.Args {
			if a.IsConst() {
				continue
			}
			whole = whole && (wires[i].Full() || took[node][i].Had() >= share(a))
			i++
		}
		for i, w := range n.results[node] {
			if whole && !w.Full() && gave[node][i].Had() < share(node) {
				return node.Errorf(diag.NoDecoder, "%s holds back what it has of %d tokens until others come", node.Op.Name, in).
					WithNote("of %d beats of its result, %d have left", share(node), gave[node][i].Had()).
					WithHint("%s", apart(node))
			}
		}
	}
	return diag.New(diag.NoDecoder, g.Name, "the design holds tokens back: with %d in, it waits for another", in)
}
