// SPDX-License-Identifier: Apache-2.0

package text

import (
	"context"
	"encoding/xml"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestSVG(t *testing.T) {
	for seed := range uint64(300) {
		g := randomGraph(rand.New(rand.NewPCG(seed, 5)))
		data, err := SVG(context.Background(), g)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(data), "NaN") {
			t.Fatalf("seed %d: not a number", seed)
		}
		for dec := xml.NewDecoder(strings.NewReader(string(data))); ; {
			if _, err := dec.Token(); err == io.EOF {
				break
			} else if err != nil {
				t.Fatalf("seed %d: %v\n%s", seed, err, data)
			}
		}
	}
	g, err := Parse("small.txt", small, nil)
	if err != nil {
		t.Fatal(err)
	}
	data, err := SVG(context.Background(), g)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{">leaky_relu<", ">1x2 fp32<", ">w 2x2 fp32<", ">a b<", ">output<"} {
		if !strings.Contains(string(data), want) {
			t.Errorf("no %s in the picture", want)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := SVG(ctx, g); err == nil {
		t.Error("a cancelled drawing has no error")
	}
}

// TestBoxesApart demands that boxes do not overlap and that arrows run downwards.
func TestBoxesApart(t *testing.T) {
	for seed := range uint64(200) {
		l := newLayout(randomGraph(rand.New(rand.NewPCG(seed, 9))))
		for range sweeps {
			l.sweep()
		}
		width, height := l.place()
		for _, r := range l.ranks {
			for i, b := range r {
				if b.x-b.width/2 < 0 || b.x+b.width/2 > width || b.y+b.height > height {
					t.Fatalf("seed %d: a box leaves the picture", seed)
				}
				if i > 0 && r[i-1].x+r[i-1].width/2 >= b.x-b.width/2 {
					t.Fatalf("seed %d: boxes overlap", seed)
				}
			}
		}
		for _, e := range l.edges {
			for i, b := range e.through[1:] {
				if a := e.through[i]; a.y+a.height >= b.y {
					t.Fatalf("seed %d: an arrow runs upwards", seed)
				}
			}
		}
	}
}
