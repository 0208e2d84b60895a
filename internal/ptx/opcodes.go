// SPDX-License-Identifier: Apache-2.0

package ptx

import "lathe/internal/ptx/lane"

// opcode is one way to write an instruction that needs more than the rows of one lane. build returns false where the
// modifiers are those of another way.
type opcode struct {
	name, forms string
	build       func(d *decoder, mods []string) (bool, error)
}

// opcodes are those that this package executes itself; package lane has the others.
func opcodes() []opcode {
	return []opcode{
		{"mov", "pred {b,u,s}{16,32,64} f32 f64; packing and unpacking b16 b32 b64 b128", buildMov},
		{"setp", "", buildSetp},
		{"testp", "", buildTestp},
		{"selp", "{b,u,s}{16,32,64} f16 bf16 f32 f64", buildSelp},
		{"set", ".eq ... .nan {.and .or .xor} {.ftz} {u,s,f}32 of what setp compares", buildSet},
		{"and", "pred", buildLogic},
		{"or", "pred", buildLogic},
		{"xor", "pred", buildLogic},
		{"not", "pred", buildLogic},
		{"bra", "{.uni}", buildBranch},
		{"brx", ".idx {.uni}", buildIndexed},
		{"ret", "{.uni}", buildExit},
		{"exit", "", buildExit},
		{"trap", "", buildTrap},
		{"ld", "{.global .shared .local .param .const} {.v2 .v4 .v8}, memory order, caches", buildLoad},
		{"ldu", "as ld", buildLoad},
		{"st", "{.global .shared .local .param} {.v2 .v4 .v8}, memory order, caches", buildStore},
		{"cvta", "{.to} .global .shared .local .const .param {u32,u64}", buildCvta},
		{"isspacep", ".global .shared .local .const .param", buildIsSpace},
		{"bar", ".sync .arrive .red{.popc,.and,.or} .warp.sync", buildBar},
		{"barrier", "{.cta} .sync .arrive .red {.aligned}", buildBar},
		{"shfl", ".sync .up .down .bfly .idx b32", buildShuffle},
		{"atom", "{.global .shared} .add .min .max .and .or .xor .inc .dec .exch .cas {b,u,s,f}{16,32,64}, pairs", buildAtom},
		{"red", "as atom", buildAtom},
		{"membar", ".cta .gl .sys", buildNothing},
		{"fence", ".sc .acq_rel .proxy, any scope", buildNothing},
		{"prefetch", ".global .local .L1 .L2", buildNothing},
		{"prefetchu", ".L1", buildNothing},
		{"discard", ".global.L2", buildNothing},
		{"applypriority", ".global.L2::evict_normal", buildNothing},
		{"nanosleep", "u32", buildNothing},
		{"griddepcontrol", ".launch_dependents .wait", buildNothing},
		{"pmevent", "", buildNothing},
	}
}

// Form is an opcode and what may follow it, for the documentation.
type Form = lane.Form

// Forms lists every opcode that is executed, by name.
func Forms() []Form {
	var out []Form
	for _, o := range opcodes() {
		if o.forms != "" {
			out = append(out, Form{Name: o.name, Forms: o.forms})
		}
	}
	out = append(out, Form{Name: "call", Forms: "{.uni} of functions that stand in the module"})
	return append(out, lane.Forms()...)
}
