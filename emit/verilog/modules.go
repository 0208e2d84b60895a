// SPDX-License-Identifier: Apache-2.0

package verilog

import (
	"fmt"

	"lathe/internal/diag"
	"lathe/rtl"
	"lathe/rtl/netlist"
)

// ownNamed is the module of that name that a user wrote, nil for none.
func (b *builder) ownNamed(module string) *rtl.Own {
	for _, inst := range b.order {
		if inst.unit.Own != nil && inst.module == module {
			return inst.unit.Own
		}
	}
	return nil
}

// own are the sources of modules that users wrote, each once.
func (b *builder) own() (files []rtl.File, err error) {
	texts := map[string]string{}
	for _, inst := range b.order {
		own := inst.unit.Own
		if own == nil {
			continue
		}
		text, twice := texts[inst.module]
		switch {
		case twice && text != own.Text:
			return nil, inst.node.Errorf(diag.ModuleFault, "two modules are called %s", inst.module).
				WithHint("give one of them another name")
		case inst.module == b.design.Top || inst.module == b.design.Core || inst.module == b.design.Single:
			return nil, inst.node.Errorf(diag.ModuleFault, "its module is called %s, as the design is", inst.module).
				WithHint("give the design another name: --top my_top")
		case !twice:
			files = append(files, own.File())
		}
		texts[inst.module] = own.Text
	}
	return files, nil
}

// body is the module that the body of a unit becomes.
func (b *builder) body(inst *instance, o Options) (*netlist.Module, error) {
	facts, err := b.units.Facts(inst.node)
	m := *inst.unit.Body.Module
	m.Name = inst.module
	m.Comment = comment(o, m.Name, sourceOf(inst.node),
		fmt.Sprintf("  latency: %d   ii: %d   order: as it comes", facts.Latency, facts.II))
	return &m, err
}
