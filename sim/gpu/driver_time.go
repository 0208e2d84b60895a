// SPDX-License-Identifier: Apache-2.0

package gpu

import (
	"slices"

	"lathe/sim/gpu/libcuda"
)

type driverGraph struct {
	d    *Driver
	exec libcuda.GraphExec
}

// Elapsed measures by two events in the stream.
func (d *Driver) Elapsed(before, work func() error) (float64, error) {
	if err := before(); err != nil {
		return 0, err
	}
	if err := d.record(0); err != nil {
		return 0, err
	}
	if err := work(); err != nil {
		return 0, err
	}
	if err := d.record(1); err != nil {
		return 0, err
	}
	leave, err := d.enter()
	if err != nil {
		return 0, err
	}
	defer leave()
	if r := d.lib.EventSynchronize(d.events[1]); r != libcuda.Success {
		return 0, d.failed("cuEventSynchronize", r, d.pending...)
	}
	d.pending = d.pending[:0]
	var ms float32
	if r := d.lib.EventElapsedTime(&ms, d.events[0], d.events[1]); r != libcuda.Success {
		return 0, d.failed("cuEventElapsedTime", r)
	}
	return 1e3 * float64(ms), nil
}

func (d *Driver) record(event int) error {
	leave, err := d.enter()
	if err != nil {
		return err
	}
	defer leave()
	if r := d.lib.EventRecord(d.events[event], d.stream); r != libcuda.Success {
		return d.failed("cuEventRecord", r, d.pending...)
	}
	return nil
}

// Capture makes a graph of what work asks for.
func (d *Driver) Capture(work func() error) (Graph, error) {
	leave, err := d.enter()
	if err != nil {
		return nil, err
	}
	defer leave()
	if r := d.lib.StreamBeginCapture(d.stream, libcuda.CaptureThreadLocal); r != libcuda.Success {
		return nil, d.failed("cuStreamBeginCapture_v2", r, d.pending...)
	}
	d.capture = true
	workErr := work()
	d.capture = false
	var g libcuda.Graph
	r := d.lib.StreamEndCapture(d.stream, &g) // also after an error: the stream would stay in capture
	if workErr != nil {
		if r == libcuda.Success {
			_ = d.lib.GraphDestroy(g) // the first error is the one to tell
		}
		return nil, workErr
	}
	if r != libcuda.Success {
		return nil, d.failed("cuStreamEndCapture", r)
	}
	out := &driverGraph{d: d}
	r = d.lib.GraphInstantiateWithFlags(&out.exec, g, 0)
	destroyed := d.lib.GraphDestroy(g)
	if r != libcuda.Success {
		return nil, d.failed("cuGraphInstantiateWithFlags", r)
	}
	d.graphs = append(d.graphs, out)
	if destroyed != libcuda.Success {
		return nil, d.failed("cuGraphDestroy", destroyed)
	}
	if r := d.lib.GraphUpload(out.exec, d.stream); r != libcuda.Success {
		return nil, d.failed("cuGraphUpload", r)
	}
	return out, nil
}

// Launch queues the work of the graph.
func (g *driverGraph) Launch() error {
	leave, err := g.d.enter()
	if err != nil {
		return err
	}
	defer leave()
	if r := g.d.lib.GraphLaunch(g.exec, g.d.stream); r != libcuda.Success {
		return g.d.failed("cuGraphLaunch", r, g.d.pending...)
	}
	return nil
}

// Close forgets the graph.
func (g *driverGraph) Close() error {
	at := slices.Index(g.d.graphs, g)
	if at < 0 {
		return foreign(g.d.facts.GPU, "close: a graph that this device does not have")
	}
	leave, err := g.d.enter()
	if err != nil {
		return err
	}
	defer leave()
	if r := g.d.lib.GraphExecDestroy(g.exec); r != libcuda.Success {
		return g.d.failed("cuGraphExecDestroy", r, g.d.pending...)
	}
	g.d.graphs = slices.Delete(g.d.graphs, at, at+1)
	return nil
}
