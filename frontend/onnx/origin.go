// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"fmt"
	"strings"

	"lathe/frontend/build"
	"lathe/internal/diag"
	"lathe/ir"
)

// origin collects what the file says beside the graph: its producer, modules and their classes, dropouts, results that
// nobody reads, and inputs that are initializers.
func (im *importer) origin(fr *frame, o *ir.Origin) {
	o.Format, o.Producer = "ONNX", strings.TrimSpace(im.model.producer+" "+im.model.version)
	o.Dangling = nil // of the nodes of the file
	if im.model.opset > NewestOpset {
		o.Warnings = append(o.Warnings, fmt.Sprintf("operator set %d is newer than %d, up to which operations are tested",
			im.model.opset, NewestOpset))
	}
	im.warnDynamic(fr, o)
	seen := map[string]bool{}
	read := map[string]bool{}
	for i := range im.model.graph.nodes {
		n := &im.model.graph.nodes[i]
		for _, in := range n.reads() {
			read[in] = true
		}
		if n.op == "Dropout" && n.domain == "" {
			o.Dropouts++
		}
		for _, m := range n.modules() {
			if !seen[m.Path] {
				seen[m.Path] = true
				o.Modules = append(o.Modules, m)
			}
		}
	}
	for _, out := range im.model.graph.outputs {
		read[out.name] = true
	}
	for i := 0; i < len(im.model.graph.nodes) && im.opts.Outputs == nil; i++ {
		if n := &im.model.graph.nodes[i]; n.dangles(read) {
			o.Dangling = append(o.Dangling, im.label(fr, n))
		}
	}
	inits := map[string]bool{}
	for i := range im.model.graph.inits {
		inits[im.model.graph.inits[i].name] = true
	}
	for _, v := range im.model.graph.inputs {
		if inits[v.name] {
			o.Shadowed = append(o.Shadowed, v.name)
		}
	}
}

// warnDynamic tells of scales that come from the data of each sample: floats compute them, and hardware does not.
func (im *importer) warnDynamic(fr *frame, o *ir.Origin) {
	var first *node
	count := 0
	for i := range im.model.graph.nodes {
		if n := &im.model.graph.nodes[i]; n.op == "DynamicQuantizeLinear" && n.domain == "" {
			if count++; first == nil {
				first = n
			}
		}
	}
	if count > 0 {
		o.Instead = static
		o.Warnings = append(o.Warnings, fmt.Sprintf("%d DynamicQuantizeLinear (the first is %q) take scales from the data "+
			"of each sample, which engines of floats compute and hardware does not: for hardware %s", count,
			im.label(fr, first), static))
	}
}

// dangles says that nothing reads a result of n.
func (n *node) dangles(read map[string]bool) bool {
	for _, out := range n.out {
		if read[out] {
			return false
		}
	}
	return true
}

// modules are the modules around a node, the model itself first, by the metadata of PyTorch's exporter.
func (n *node) modules() []ir.Module {
	scopes, classes := pythonList(n.scopes), pythonList(n.classes)
	if len(scopes) == 0 {
		scopes, classes = namespace(string(n.namespace))
	}
	if len(scopes) < 2 || len(classes) != len(scopes) || strings.HasPrefix(scopes[0], "_empty_") {
		return nil
	}
	var list []ir.Module
	for i, path := range scopes[:len(scopes)-1] {
		list = append(list, ir.Module{Path: path, Class: classes[i]})
	}
	return list
}

// convertDropout passes input 0 on, and notes its rate; its second result is a mask of what is kept, which is
// everything.
func convertDropout(c *call) {
	if c.has(2) && c.scalar(2, "training_mode") != 0 {
		c.fail(diag.UnsupportedForm, "is in training mode").WithHint("export the model after model.eval()")
	}
	x := c.arg(0)
	rate := float64(c.float("ratio", 0.5))
	if c.has(1) {
		rate = c.scalar(1, "ratio")
	}
	if o := c.b.Origin(); c.err == nil {
		o.Drops = append(o.Drops, ir.Drop{Behind: x.Name, Rate: rate})
	}
	convertIdentity(c)
	if c.wants(1) && c.err == nil {
		kept := c.made("kept", build.IntBlob(ir.B1, []int64{1}), nil)
		c.resultAt(1, c.repeat("mask", kept, c.shape(0)))
	}
}
