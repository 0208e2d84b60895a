// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"fmt"
	"io/fs"
	"strings"

	"lathe/cuda"
	"lathe/cuda/cases"
	"lathe/cuda/catalogue"
)

// Ceilings of an H200 as others achieved them, by which floors are predicted: bytes read and written a second by a
// copy, and flop/s of a bf16 matrix product.
const (
	copyBandwidth = 4.3e12
	matrixFlops   = 790e12
)

// Kernels is the page of CUDA kernels; tree is docs/measurements, what scripts/gpu-bench wrote. Errors as
// catalogue.Rows and cases.All, and for lines of it that cannot be read.
func Kernels(tree fs.FS) (string, error) {
	rows, err := catalogue.Rows()
	if err != nil {
		return "", err
	}
	all, err := cases.All()
	if err != nil {
		return "", err
	}
	times, err := measured(tree)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("# CUDA kernels\n\nWritten by `make gen` from the headers of the kernel library, `cuda/catalogue` and " +
		"docs/measurements; `lathe list cuda`\nprints a summary.\n\n" + kernelsHead)
	if len(times.last) == 0 {
		b.WriteString("\nNo kernel has run on a GPU yet: nothing is timed, and floors are predictions.\n")
	}
	family := ""
	for _, r := range rows {
		if r.Template.Family != family {
			family = r.Template.Family
			fmt.Fprintf(&b, "\n## %s\n", family)
		}
		writeTemplate(&b, r)
		if err := writeFloors(&b, r, all, times); err != nil {
			return "", err
		}
	}
	times.writeLayers(&b)
	times.writeSlower(&b)
	return b.String(), nil
}

const kernelsHead = `- compiled: for every architecture in the table, without warnings, spills, stack or local memory,
  within the register budget and with the claimed machine instructions.
- emulated: the compiled kernel ran in the PTX interpreter, under every schedule and with asynchronous copies done early
  and late; the bits were equal each time and the result within tolerance.
- measured: on the named GPU at the named commit, beside what was predicted before (docs/measurements/predictions.json),
  and how many times as long another library takes for the same work.
- floor: the time an H200 needs to move the bytes (4.3e12 bytes/s) or to compute (790e12 flop/s in bf16, twice that in
  8-bit formats), whichever is longer. It is what any implementation needs, and no promise.
- ceiling: the tensor-core instruction of the kernel and its rate on an H200, six tenths of the datasheet's since
  mma.sync (HMMA, IMMA) does not reach more, or less where the kernel's loop issues too much beside it; 85 % for wgmma
  (HGMMA, IGMMA), an estimate; FFMA is fp32 without tensor cores.
- predicted: the time by the model of cuda/predictor today, which is fitted to half of the measured cases
  (gpubench fit): wave quantization, bytes in flight, issue slots, traffic through L2, launches.
`

// writeTemplate writes what the header of a template says, and a line for each of its kernels.
func writeTemplate(b *strings.Builder, r catalogue.Row) {
	t := r.Template
	fmt.Fprintf(b, "\n### %s\n\n%s\n", t.Name, t.Purpose)
	var params []string
	for _, p := range t.Params {
		params = append(params, p.Name)
	}
	threads, shared, regs, sass := t.Header()
	const text = "\nParameters `%s`; threads `%s`; shared memory `%s`; register budget `%s`; must have %s.\n"
	fmt.Fprintf(b, text, strings.Join(params, ", "), threads, shared, regs, orNone(sass))
	if len(r.Kernels) == 0 {
		b.WriteString("\nNo cases yet.\n")
		return
	}
	head, line := "\n| kernel |", "\n|---|"
	for _, a := range cuda.ArchNames() {
		head, line = head+" "+strings.TrimPrefix(a, "sm_")+" |", line+"--:|"
	}
	b.WriteString(head + " instructions | cases | status |" + line + "--:|--:|---|\n")
	for _, k := range r.Kernels {
		fmt.Fprintf(b, "| `%s` |", cell(k.Instance))
		most := 0
		for _, a := range cuda.ArchNames() {
			text := "-"
			if u, ok := k.On(a); ok {
				text = fmt.Sprint(u.Registers)
				most = max(most, u.Instructions)
			}
			fmt.Fprintf(b, " %s |", text)
		}
		fmt.Fprintf(b, " %d | %d | %s |\n", most, k.Cases, k.Status())
	}
}

func orNone(items []string) string {
	if len(items) == 0 {
		return "nothing in particular"
	}
	return "`" + strings.Join(items, "`, `") + "`"
}

// writeFloors writes a line for each case that is timed.
func writeFloors(b *strings.Builder, r catalogue.Row, all []cuda.Case, times *measurements) error {
	head := "\n| shape | formats | bytes | flop | floor, us | ceiling, Tflop/s | predicted, us | measured |\n" +
		"|---|---|--:|--:|--:|--:|--:|---|\n"
	for _, c := range all {
		if !c.Timed || len(c.Instances) == 0 || c.Instances[0].Template.Name != r.Template.Name {
			continue
		}
		b.WriteString(head)
		head = ""
		e, err := cases.Predict(c)
		if err != nil {
			return err
		}
		fmt.Fprintf(b, "| %s | %s | %d | %d | %.1f | %s %.0f | %.1f | %s |\n", cell(c.Shape), cell(c.Formats), c.Bytes,
			c.Flops, c.Floor(copyBandwidth, matrixFlops), e.Ceiling.Instruction, e.Ceiling.Rate/1e12, e.Seconds*1e6,
			times.text(c.Name))
	}
	return nil
}
