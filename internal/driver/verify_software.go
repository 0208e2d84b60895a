// SPDX-License-Identifier: Apache-2.0

package driver

import (
	"context"

	"lathe/golden"
	"lathe/golden/pjrt"
	"lathe/golden/ref"
	"lathe/ir"
)

// software compares PJRT and kernels, as far as they are wanted, with the outputs of the reference.
func (e Engines) software(ctx context.Context, j Job, c *Check, nodes []*ir.Node, want []ref.Sample,
	done func(step string)) error {
	if !e.NoPJRT {
		got, err := e.pjrt(ctx, j.HW.Scheduled, j.Samples, false, j.Progress)
		if err == nil {
			err = c.compare("pjrt", nodes, want, got)
		}
		if err != nil {
			return err
		}
		done("pjrt")
	}
	if e.CUDA == nil {
		return nil
	}
	got, err := e.CUDA(ctx, j.HW.Graph, j.Samples)
	if err == nil {
		err = c.compare("cuda", nodes, want, got)
	}
	done("cuda")
	return err
}

func (e Engines) pjrt(ctx context.Context, g *ir.Graph, samples []ref.Sample, trace bool,
	p Progress) ([]ref.Sample, error) {
	p.report("PJRT", 0, len(samples))
	engine, err := pjrt.Start(ctx, e.PJRT)
	if err != nil {
		return nil, err
	}
	defer engine.Close()
	return golden.RunPJRT(ctx, engine, g, samples, trace, func(n int) { p.report("PJRT", n, len(samples)) })
}
