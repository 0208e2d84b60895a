// SPDX-License-Identifier: Apache-2.0

package cases

import (
	"encoding/json"
	"io"

	"lathe/cuda"
	"lathe/cuda/predictor"
)

// predictedArch is the architecture for which times are predicted.
const predictedArch = cuda.HopperArch

// Prediction is the time in microseconds that was expected of a case at a commit, before it was measured.
type Prediction struct {
	Case   string  `json:"case"`
	Commit string  `json:"commit"`
	GPU    string  `json:"gpu"`
	Us     float64 `json:"predicted_us"`
}

// Expected is what a GPU is expected to do: the rate that the first kernel of a case can reach, and the seconds that
// the case takes.
type Expected struct {
	GPU     string
	Ceiling cuda.Ceiling
	Seconds float64
}

// Predict is what is expected of a case. Errors as Peak.CeilingOf and predictor.Seconds.
func Predict(c cuda.Case) (Expected, error) {
	arch, err := cuda.FindArch(predictedArch)
	if err != nil {
		return Expected{}, err
	}
	peak := cuda.PeakOf(arch)
	ceiling, err := peak.CeilingOf(c.Instances[0], arch)
	if err != nil {
		return Expected{}, err
	}
	m, err := predictor.Fitted()
	if err != nil {
		return Expected{}, err
	}
	work, err := workOf(c, arch)
	return Expected{peak.GPU, ceiling, predictor.Measured{Work: work}.Predicted(m, arch) / 1e6}, err
}

// workOf counts what the launches of a case do. The bytes of the case are those of the first; what passes between them
// stays in L2.
func workOf(c cuda.Case, arch cuda.Arch) ([]*predictor.Work, error) {
	var out []*predictor.Work
	for k, l := range c.Launches {
		i := c.Instances[min(k, len(c.Instances)-1)]
		asked := predictor.Launch{Instance: i, Blocks: 1, Sizes: predictor.SizesOf(i, l.Args, 1)}
		for _, n := range l.Grid {
			asked.Blocks *= int64(n)
		}
		if k == 0 {
			asked.Bytes = c.Bytes
		}
		w, err := predictor.WorkOf(arch, asked)
		if err != nil {
			return nil, err
		}
		out = append(out, w)
	}
	return out, nil
}

// Measured reads the times of cases from the lines of a file of docs/measurements. Layers, which are several kernels of
// several templates, are not among them. Errors as All, and of the reader.
func Measured(lines io.Reader) ([]predictor.Measured, error) {
	arch, err := cuda.FindArch(predictedArch)
	if err != nil {
		return nil, err
	}
	all, err := All()
	if err != nil {
		return nil, err
	}
	byName := map[string]cuda.Case{}
	for _, c := range all {
		byName[c.Name] = c
	}
	var out []predictor.Measured
	for d := json.NewDecoder(lines); ; {
		var one struct {
			Case, Status string
			Us           float64 `json:"us_median"`
		}
		if err := d.Decode(&one); err == io.EOF {
			return out, nil
		} else if err != nil {
			return nil, err
		}
		c, ok := byName[one.Case]
		if !ok || one.Status != "ok" {
			continue
		}
		work, err := workOf(c, arch)
		if err != nil {
			return nil, err
		}
		out = append(out, predictor.Measured{Name: c.Name, Work: work, Us: one.Us})
	}
}
