// SPDX-License-Identifier: Apache-2.0

package mutate

import (
	"slices"
	"strings"
	"testing"

	"lathe/cuda"
)

// pipeline has every construct that a rule looks for.
const pipeline = `// SPDX-License-Identifier: Apache-2.0
// pipeline: 7 constants in a comment stay
template <int STAGES>
DEV void pipeline(const u8* X, i64 n) {
  static_assert(STAGES > 2, "too few");
  u32 frag[4], more[SIZE], last[SIZE];
  asm volatile("mov.b32 %0, 5;" : "=r"(frag[0]));
  cp_async_wait<STAGES - 2>();
  barrier();  // 3 in here stays too
  if (n == 0) return;
  if (threadIdx.x < 32 && n > 1) use(X[n / 32], n ? 1 : 0xFu);
  mma_bf16(d[0], a, b[0], b[1]);
  address = row ^ chunk;
#pragma unroll
  for (int j = 0; j < 16; ++j) sum += j > 8;
#pragma unroll
  for (int j = 0; j < N / 8; ++j) sum += j;
  if (MASK || from + BN > limit || at <= to[n - 1] * 2) sum = s & 15;
}
`

func TestMutants(t *testing.T) {
	var got []string
	for _, m := range Mutants(pipeline) {
		got = append(got, m.Rule+": "+m.Before+" => "+m.After)
		after := m.Apply(pipeline)
		lines := strings.Count(after, "\n") == strings.Count(pipeline, "\n")
		if after == pipeline || !strings.Contains(after, m.After) || !lines {
			t.Errorf("%s gives\n%s", m.ID(), after)
		}
	}
	for _, want := range []string{
		"drop call: barrier() => ", "drop call: cp_async_wait<STAGES - 2>() => ", "wait less: STAGES - 2 => (STAGES - 2) + 1",
		"drop condition: (n == 0) => (false)", "drop condition: (threadIdx.x < 32 && n > 1) => (true)",
		"drop operand: && n > 1 => ", "choose branch: ? => && false ?", "choose branch: ? => || true ?",
		"boundary: < => <=", "boundary: == => !=", "constant: 32 => 33", "constant: 0xFu => 0x10u",
		"shift index: n / 32 => (n / 32) + 1", "swizzle: ^ => +", "constant: 16 => 15", "boundary: > => >=",
		"swap fragments: b[0], b[1] => b[1], b[0]",
		"limit: 32 => (32) - 1", "limit: N / 8 => (N / 8) - 1", "limit: limit => (limit) + 1",
		"limit: to[n - 1] * 2 => (to[n - 1] * 2) + 1",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("no %q in %q", want, got)
		}
	}
	for _, twice := range []string{"limit: 16 => (16) - 1", "limit: 8 => (8) + 1", "limit: 1 => (1) + 1"} {
		if slices.Contains(got, twice) {
			t.Errorf("%s: constant has it", twice)
		}
	}
	for _, m := range Mutants(pipeline) {
		if m.Before == "2" && strings.Contains(m.Source, "cp_async_wait") {
			t.Errorf("%s: this waits longer", m.ID())
		}
		if slices.Contains([]string{"3", "4", "5", "7", "SIZE"}, m.Before) || strings.Contains(m.Source, "assert") {
			t.Errorf("%s: this decides nothing", m.ID())
		}
	}
}

// Every kernel of the library has faults to plant, and every fault a name of its own.
func TestLibrary(t *testing.T) {
	kernels, err := cuda.Templates()
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range kernels {
		text, err := cuda.Text(k.Family + "/" + k.Name + ".cu")
		if err != nil {
			t.Fatal(err)
		}
		all := Mutants(text)
		if len(all) < 5 {
			t.Errorf("%s: %d faults", k.Name, len(all))
		}
		var ids []string
		for _, m := range all {
			ids = append(ids, m.ID()+m.Apply(text))
		}
		slices.Sort(ids)
		if len(slices.Compact(ids)) != len(all) {
			t.Errorf("%s: two faults of one name and text", k.Name)
		}
	}
}

func TestAddTo(t *testing.T) {
	for _, c := range [][2]string{
		{"1", "2"}, {"0x7F800000", "0x7F800001"}, {"1ull", "2ull"}, {"15u", "16u"}, {"0.5f", ""}, {"1.0f", ""},
	} {
		if got, _ := addTo(c[0], 1); got != c[1] {
			t.Errorf("%s: %q, want %q", c[0], got, c[1])
		}
	}
}
