// SPDX-License-Identifier: Apache-2.0

package pjrt_test

import (
	"os"
	"testing"
	"time"

	"lathe/golden/hlo"
	"lathe/golden/pjrt"
	"lathe/golden/pjrt/pjrttest"
)

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "bare" {
		if err := pjrt.ServeBare(os.Stdin, os.Stdout, os.Args[2]); err != nil {
			panic(err)
		}
		os.Exit(0)
	}
	pjrttest.Main(m)
}

func TestBare(t *testing.T) {
	cfg := pjrttest.Config(t)
	cfg.Command[1] = "bare"
	for range 10 {
		_, err := pjrt.Start(t.Context(), cfg)
		t.Log(err)
	}
}

func TestDot(t *testing.T) {
	start := time.Now()
	e, err := pjrt.Start(t.Context(), pjrttest.Config(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("start %v, info %+v", time.Since(start), e.Info())
	defer e.Close()
	for _, bits := range []int{31, 53, 63} {
		b := hlo.New("dot")
		x := b.Arg("x", hlo.TypeOf(hlo.I32, 5000, 64))
		w := make([]int64, 64*32)
		for i := range w {
			w[i] = int64(i%17 - 8)
		}
		y := b.DotInt(x, b.Weight(hlo.FromInt64s(hlo.I8, []int{64, 32}, w)),
			hlo.Dot{LhsContract: []int{1}, RhsContract: []int{0}}, bits)
		b.Return(y)
		text := b.Text()
		if b.Err() != nil {
			t.Fatal(b.Err())
		}
		start = time.Now()
		p, err := e.Compile(t.Context(), text)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		t.Logf("compile %v", time.Since(start))
		start = time.Now()
		if err := p.Bind(t.Context(), b.Weights()); err != nil {
			t.Fatal(err)
		}
		t.Logf("bind %v", time.Since(start))
		xs := make([]int64, 5000*64)
		for i := range xs {
			xs[i] = int64(i%255 - 127)
		}
		in := hlo.FromInt64s(hlo.I32, []int{5000, 64}, xs)
		for range 4 {
			start = time.Now()
			if _, err := p.Run(t.Context(), []hlo.Array{in}); err != nil {
				t.Fatal(err)
			}
			t.Logf("run %v", time.Since(start))
		}
	}
}
