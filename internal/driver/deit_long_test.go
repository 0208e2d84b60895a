// SPDX-License-Identifier: Apache-2.0

//go:build long

package driver_test

import (
	words "encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"lathe/internal/driver"
	"lathe/ir"
	"lathe/ir/survey"
	"lathe/ir/unit"
	"lathe/lower/schedule/tokens"
)

// folderOf writes weights of float32 and a config as a folder of Hugging Face.
type folderOf struct {
	header map[string]any
	data   []byte
	random *rand.Rand
}

// add appends a tensor of normal numbers around a mean.
func (f *folderOf) add(name string, mean, deviation float64, shape ...int) {
	from := len(f.data)
	for range (ir.Type{Shape: shape}).Elems() {
		f.data = words.LittleEndian.AppendUint32(f.data, math.Float32bits(float32(mean+deviation*f.random.NormFloat64())))
	}
	f.header[name] = map[string]any{"dtype": "F32", "shape": shape, "data_offsets": [2]int{from, len(f.data)}}
}

func (f *folderOf) linear(name string, out, in int) {
	f.add(name+".weight", 0, 1/math.Sqrt(float64(in)), out, in)
	f.add(name+".bias", 0, 0.02, out)
}

func (f *folderOf) norm(name string, size int) {
	f.add(name+".weight", 1, 0.1, size)
	f.add(name+".bias", 0, 0.1, size)
}

func (f *folderOf) write(dir string, config map[string]any) error {
	text, err := json.Marshal(f.header)
	if err != nil {
		return err
	}
	file := append(words.LittleEndian.AppendUint64(nil, uint64(len(text))), text...)
	if err := os.WriteFile(filepath.Join(dir, "model.safetensors"), append(file, f.data...), 0o600); err != nil {
		return err
	}
	if text, err = json.Marshal(config); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "config.json"), text, 0o600)
}

// deitTiny writes a folder of the shape of DeiT-Tiny, of so many layers, with random weights.
func deitTiny(dir string, layers int) error {
	const d, inner, tokens = 192, 768, 197
	f := &folderOf{header: map[string]any{}, random: rand.New(rand.NewPCG(1, 2))}
	f.add("vit.embeddings.patch_embeddings.projection.weight", 0, 0.03, d, 3, 16, 16)
	f.add("vit.embeddings.patch_embeddings.projection.bias", 0, 0.02, d)
	f.add("vit.embeddings.cls_token", 0, 0.5, 1, 1, d)
	f.add("vit.embeddings.position_embeddings", 0, 0.3, 1, tokens, d)
	for i := range layers {
		path := fmt.Sprintf("vit.encoder.layer.%d.", i)
		for _, name := range []string{"query", "key", "value"} {
			f.linear(path+"attention.attention."+name, d, d)
		}
		f.linear(path+"attention.output.dense", d, d)
		f.linear(path+"intermediate.dense", inner, d)
		f.linear(path+"output.dense", d, inner)
		f.norm(path+"layernorm_before", d)
		f.norm(path+"layernorm_after", d)
	}
	f.norm("vit.layernorm", d)
	f.linear("classifier", 1000, d)
	labels := map[string]string{}
	for i := range 1000 {
		labels[fmt.Sprint(i)] = fmt.Sprint(i)
	}
	return f.write(dir, map[string]any{"architectures": []string{"ViTForImageClassification"}, "model_type": "vit",
		"hidden_size": d, "num_hidden_layers": layers, "num_attention_heads": 3, "intermediate_size": inner,
		"image_size": 224, "patch_size": 16, "num_channels": 3, "hidden_act": "gelu", "layer_norm_eps": 1e-12,
		"qkv_bias": true, "id2label": labels})
}

// deitPlan asks for a sample in 56,800 cycles; the patch embedding multiplies in LUTs.
const deitPlan = `[fold]
mode = "balance"
fps = 4402
dsp = "pack"
max_dsp = %d
[[fold.rule]]
name = "vit.embeddings.patch_embeddings.projection"
dsp = "none"
`

// deit emits that model with at most so many DSPs.
func deit(t *testing.T, layers, dsp int) *driver.Hardware {
	t.Helper()
	return deitUnder(t, layers, fmt.Sprintf(deitPlan, dsp))
}

// deitUnder emits that model under a plan.
func deitUnder(t *testing.T, layers int, text string) *driver.Hardware {
	t.Helper()
	dir := t.TempDir()
	if err := deitTiny(dir, layers); err != nil {
		t.Fatal(err)
	}
	return emitted(t, driver.Source{Model: dir, Plan: planFile(t, text)})
}

// processorTime is what this process has used.
func processorTime() time.Duration {
	var used syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used)
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// TestDeiT holds the shape of DeiT-Tiny to a rate, a number of DSPs, the time of the first image, and multipliers of
// the encoder that hardly ever wait.
func TestDeiT(t *testing.T) {
	begun := processorTime()
	hw := deit(t, 12, 11300)
	taken := processorTime() - begun
	b := hw.Schedule.Balance
	times, err := tokens.Run(t.Context(), hw.Scheduled, &unit.Cache{}, 1)
	if err != nil || !times.Done {
		t.Fatalf("%+v, %v", times, err)
	}
	products, multipliers := 0, 0
	for _, n := range hw.Scheduled.Nodes {
		if macs := survey.MACs(n); n.Op.DSPCause != nil && strings.Contains(n.Name, "encoder.layer") {
			products += macs
			multipliers += n.HW.InLanes * n.HW.OutLanes
		}
	}
	busy := float64(products) / float64(multipliers) / b.Cycles
	t.Logf("%.0f cycles a sample, %d DSP, first image behind %d cycles, multipliers of the encoder busy %.2f %%, "+
		"emitted in %.0f s of processor time", b.Cycles, b.Cost.DSP, times.Last[0][0], 100*busy, taken.Seconds())
	if b.Cycles > 56800 || b.Cost.DSP > 11300 || times.Last[0][0] > 772000 || busy < 0.95 {
		t.Error("that is more than 56,800 cycles, 11,300 DSP or 772,000 cycles, or less than 95 %")
	}
}

// TestDeiTLayers simulates two of its layers, with the lanes that they have among twelve.
func TestDeiTLayers(t *testing.T) {
	hw := deit(t, 2, 1860)
	samples, err := driver.RandomSamples(hw.Scheduled, 3, 1)
	if err != nil {
		t.Fatal(err)
	}
	c, err := engines(t).Verify(t.Context(), driver.Job{HW: hw, Samples: samples, Stalls: 30, Seeds: []uint64{1}})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d mismatches, %.0f cycles a sample, %.0f predicted, latency %d", c.Mismatches, c.II,
		hw.Schedule.Balance.Cycles, c.Latency)
	if c.Mismatches > 0 || c.II != hw.Schedule.Balance.Cycles || c.II > 56800 {
		t.Error("the hardware differs, or is not as fast as predicted")
	}
}

// loopedPlan has the layers share the units of a block that takes 288 cycles a token, with so many images in them.
const loopedPlan = `[fold]
mode = "fold"
layers = "loop"
images = %d
dsp = "pack"
[[fold.rule]]
name = "vit.embeddings.patch_embeddings.projection"
in_lanes = 12
dsp = "none"
[[fold.rule]]
regex = 'layer\.0\.attention\.(attention\.(query|key|value)|output\.dense)$'
in_lanes = 16
out_lanes = 8
[[fold.rule]]
regex = 'layer\.0\.(intermediate|output)\.dense$'
in_lanes = 16
out_lanes = 32
[[fold.rule]]
op = "layer_norm"
in_lanes = 2
[[fold.rule]]
name = "classifier"
in_lanes = 2
out_lanes = 1
[[fold.rule]]
name = "*.layer.0.*.scores"
in_lanes = 4
out_lanes = 34
[[fold.rule]]
name = "*.layer.0.*.weights"
in_lanes = 3
[[fold.rule]]
name = "*.layer.0.*scaled_dot_product_attention"
in_lanes = 34
out_lanes = 4
`

// TestDeiTLoop holds the shape of DeiT-Tiny, in one block for all layers, to the cycles of an image: with two in the
// block hardly a multiplier waits.
func TestDeiTLoop(t *testing.T) {
	const least = 12 * 197 * 288
	for images, most := range map[int]float64{1: 1.04 * least, 2: 1.001 * least} {
		hw := deitUnder(t, 12, fmt.Sprintf(loopedPlan, images))
		cycles, cost := hw.Schedule.Interval(), hw.Schedule.Cost()
		t.Logf("%d in the block: %.0f cycles an image, %.4f of the least, %d DSP", images, cycles, cycles/least, cost.DSP)
		if cycles < least || cycles > most || cost.DSP > 950 {
			t.Errorf("that is not from %d to %.0f cycles, in at most 950 DSP", least, most)
		}
	}
}
