// SPDX-License-Identifier: Apache-2.0

//go:build long

package driver_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"lathe/internal/driver"
	"lathe/internal/npz"
	"lathe/internal/tools"
	"lathe/ir"
)

// TestPeers compares random quantized graphs with the tools that their kinds come from, see testdata/peers: as
// imported, and as the integers that hardware computes. The graphs of a test that fails stay where its messages say.
func TestPeers(t *testing.T) {
	for _, kind := range []string{"qonnx", "qdq"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			const count = 1000
			python := tools.NeedPeers(t)
			dir, err := os.MkdirTemp("", "lathe-peers-"+kind+"-")
			if err != nil {
				t.Fatal(err)
			}
			graphs := exec.Command(python, "testdata/peers/graphs.py", kind, "0", strconv.Itoa(count), dir)
			graphs.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
			if out, err := graphs.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			var sum peerSum
			for seed := range count {
				p, err := readPeer(filepath.Join(dir, fmt.Sprintf("%05d", seed)))
				if err == nil {
					err = p.compare(t.Context(), &sum)
				}
				if err != nil {
					t.Errorf("seed %d: %v\n%s", seed, err, p.nodes)
				}
			}
			t.Logf("%s: %d graphs, %+v", kind, count, sum)
			if sum.exact < sum.values/5 || sum.ties*400 > sum.values {
				t.Errorf("of %d values, %d are of exact graphs and %d are excused as ties", sum.values, sum.exact, sum.ties)
			}
			if !t.Failed() {
				os.RemoveAll(dir)
			}
		})
	}
}

// peerSum counts what was compared.
type peerSum struct {
	values, exact, ties int // of ties, those that differ
}

// peer is a graph with what its tool computes.
type peer struct {
	model, nodes string
	file         *npz.File
	want         []float64
	near         []int64
	step         float64
	exact        bool
}

func readPeer(stem string) (p peer, err error) {
	nodes, err := os.ReadFile(stem + ".txt")
	if err != nil {
		return p, err
	}
	p.model, p.nodes = stem+".onnx", string(nodes)
	if p.file, err = npz.Read(stem + ".npz"); err != nil {
		return p, err
	}
	arrays := map[string]*npz.Array{}
	for _, name := range []string{"y", "near", "step", "exact"} {
		if arrays[name], err = p.file.Get(name); err != nil {
			return p, err
		}
	}
	p.want, p.step = arrays["y"].Float64s(), arrays["step"].Float64s()[0]
	p.exact = arrays["exact"].Float64s()[0] == 1
	p.near, err = arrays["near"].Int64s()
	return p, err
}

// compare runs the graph as imported and in its own formats.
func (p *peer) compare(ctx context.Context, sum *peerSum) error {
	s := driver.Source{Model: p.model, Outputs: []string{"y"}} // else hardware ends in front of a softmax
	g, err := s.Import()
	if err != nil {
		return err
	}
	if err := p.same(ctx, "as imported", g, sum); err != nil {
		return err
	}
	q, err := s.Quantize(ctx, g)
	if err != nil {
		return err
	}
	return p.same(ctx, "as integers", q.Graph, sum)
}

// same demands codes equal to those of the tool, but for ties.
func (p *peer) same(ctx context.Context, how string, g *ir.Graph, sum *peerSum) error {
	samples, batch, err := driver.Samples(g, p.file)
	if err != nil {
		return err
	}
	out, err := driver.Evaluate(ctx, g, samples)
	if err != nil {
		return err
	}
	arrays, err := driver.Arrays(g, out, batch, false)
	if err != nil {
		return err
	}
	got := arrays[0].Float64s()
	if len(got) != len(p.want) {
		return fmt.Errorf("%s, %s has %d values, its tool %d", p.model, how, len(got), len(p.want))
	}
	each := len(got) / len(p.near)
	sum.values += len(got)
	if p.exact {
		sum.exact += len(got)
	}
	for i, v := range got {
		if math.Abs(v-p.want[i]) < p.step/4 {
			continue
		}
		if p.exact || p.near[i/each] == 0 {
			return fmt.Errorf("%s, %s: sample %d, element %d is %g, and %g in its tool (step %g)", p.model, how, i/each,
				i%each, v, p.want[i], p.step)
		}
		sum.ties++
	}
	return nil
}
