// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"bufio"
	"bytes"
	"encoding/json"
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

// Kernels is the page of CUDA kernels; measurements holds what scripts/gpu-bench wrote. Errors as catalogue.Rows and
// cases.All, and for lines of measurements that cannot be read.
func Kernels(measurements fs.FS) (string, error) {
	rows, err := catalogue.Rows()
	if err != nil {
		return "", err
	}
	all, err := cases.All()
	if err != nil {
		return "", err
	}
	times, err := measured(measurements)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("# CUDA kernels\n\nWritten by `make gen` from the headers of the kernel library, `cuda/catalogue` and " +
		"docs/measurements; `lathe list cuda`\nprints a summary.\n\n" + kernelsHead)
	if len(times) == 0 {
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
	return b.String(), nil
}

const kernelsHead = `- compiled: for every architecture in the table, without warnings, spills, stack or local memory,
  within the register budget and with the claimed machine instructions.
- emulated: the compiled kernel ran in the PTX interpreter, under every schedule and with asynchronous copies done early
  and late; the bits were equal each time and the result within tolerance.
- measured: on the named GPU at the named commit.
- floor: the time an H200 needs to move the bytes (4.3e12 bytes/s) or to compute (790e12 flop/s in bf16, twice that in
  8-bit formats), whichever is longer. It is what any implementation needs, and no promise.
- ceiling: the tensor-core instruction of the kernel and its rate on an H200, six tenths of the datasheet's since
  mma.sync (HMMA, IMMA) does not reach more, or less where the kernel's loop issues too much beside it; 85 % for wgmma
  (HGMMA, IGMMA), an estimate; FFMA is fp32 without tensor cores.
- predicted: the time by that ceiling and nine tenths of memory's 4.8e12 bytes/s, as far as the blocks fill the GPU, and
  2 us for the launch.
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
func writeFloors(b *strings.Builder, r catalogue.Row, all []cuda.Case, times map[string]measurement) error {
	head := "\n| shape | formats | bytes | flop | floor, us | ceiling, Tflop/s | predicted, us | measured |\n" +
		"|---|---|--:|--:|--:|--:|--:|---|\n"
	for _, c := range all {
		if !c.Timed || len(c.Instances) == 0 || c.Instances[0].Template.Name != r.Template.Name {
			continue
		}
		b.WriteString(head)
		head = ""
		ceiling, predicted, err := predict(c)
		if err != nil {
			return err
		}
		fmt.Fprintf(b, "| %s | %s | %d | %d | %.1f | %s %.0f | %.1f | %s |\n", cell(c.Shape), cell(c.Formats), c.Bytes,
			c.Flops, c.Floor(copyBandwidth, matrixFlops), ceiling.Instruction, ceiling.Rate/1e12, predicted*1e6,
			times[c.Name].text())
	}
	return nil
}

// predict is what the first kernel of a case can compute, and how many seconds the case is expected to take.
func predict(c cuda.Case) (cuda.Ceiling, float64, error) {
	arch, err := cuda.FindArch("sm_90")
	if err != nil {
		return cuda.Ceiling{}, 0, err
	}
	peak := cuda.PeakOf(arch)
	ceiling, err := peak.CeilingOf(c.Instances[0], arch)
	blocks := int64(1)
	for _, n := range c.Launches[0].Grid {
		blocks *= int64(n)
	}
	return ceiling, peak.Predict(c.Bytes, c.Flops, blocks, ceiling), err
}

// measurement is a line of docs/measurements.
type measurement struct {
	Case, Commit, GPU, Status string
	Median                    float64 `json:"us_median"`
	PctFloor                  float64 `json:"pct_floor"`
}

func (m measurement) text() string {
	switch m.Status {
	case "":
		return "-"
	case "ok":
		return fmt.Sprintf("%.1f us, %.0f %% of the floor: %s, %s", m.Median, m.PctFloor, m.GPU, m.Commit)
	}
	return fmt.Sprintf("%s: %s, %s", m.Status, m.GPU, m.Commit)
}

// measured reads all measurements by case; the last line of a case counts.
func measured(tree fs.FS) (map[string]measurement, error) {
	names, err := fs.Glob(tree, "*.jsonl")
	if err != nil {
		return nil, err
	}
	all := map[string]measurement{}
	for _, name := range names {
		data, err := fs.ReadFile(tree, name)
		if err != nil {
			return nil, err
		}
		lines := bufio.NewScanner(bytes.NewReader(data))
		lines.Buffer(nil, 1<<20)
		for n := 1; lines.Scan(); n++ {
			var m measurement
			if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
				return nil, fmt.Errorf("%s:%d: %w", name, n, err)
			}
			all[m.Case] = m
		}
	}
	return all, nil
}
