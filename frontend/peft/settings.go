// SPDX-License-Identifier: Apache-2.0

package peft

import (
	"math"
	"regexp"

	"lathe/frontend/source"
	"lathe/internal/diag"
)

// alphaOf is the alpha of modules; PEFT's keys are expressions for the end of their names.
type alphaOf struct {
	module *regexp.Regexp
	alpha  float64
}

// settings are what adapter_config.json says of the sums.
type settings struct {
	alpha               float64
	alphas              []alphaOf // the first that matches counts
	fanInFanOut, rooted bool
}

// readSettings reads adapter_config.json.
func readSettings(name string, data []byte) (s settings, err error) {
	v, err := source.ParseJSON(name, data)
	if err != nil {
		return s, err
	}
	r := reader{v: v}
	if kind := r.text("peft_type"); r.err == nil && kind != "LORA" {
		return s, v.Errorf(diag.AdapterFolder, "adapters of the kind %s are not supported", source.Quote(kind)).
			WithHint("LORA is: merge others with PEFT's merge_and_unload, and save the model")
	}
	for _, odd := range []string{"use_dora", "use_qalora"} {
		if r.flag(odd) {
			return s, v.Errorf(diag.AdapterFolder, "%s = true is not supported", odd).
				WithHint("merge the adapter with PEFT's merge_and_unload, and save the model")
		}
	}
	s.alpha = r.number("lora_alpha")
	s.fanInFanOut, s.rooted = r.flag("fan_in_fan_out"), r.flag("use_rslora")
	s.alphas = r.numbers("alpha_pattern")
	return s, r.err
}

// scale is what the product of a module is multiplied by: alpha / rank, or alpha / sqrt(rank).
func (s *settings) scale(module string, rank int) float64 {
	alpha := s.alpha
	for _, a := range s.alphas {
		if a.module.MatchString(module) {
			alpha = a.alpha
			break
		}
	}
	if s.rooted {
		return alpha / math.Sqrt(float64(rank))
	}
	return alpha / float64(rank)
}

// reader reads entries, and keeps the first error.
type reader struct {
	v   *source.JSON
	err error
}

func (r *reader) keep(err error) {
	if r.err == nil {
		r.err = err
	}
}

func (r *reader) text(key string) string {
	v, err := r.v.Need(key)
	if err != nil {
		r.keep(err)
		return ""
	}
	s, err := v.Str()
	r.keep(err)
	return s
}

func (r *reader) flag(key string) bool {
	v := r.v.Get(key)
	if v.IsNull() {
		return false
	}
	b, err := v.Bool()
	r.keep(err)
	return b
}

func (r *reader) number(key string) float64 {
	v, err := r.v.Need(key)
	if err != nil {
		r.keep(err)
		return 0
	}
	f, err := v.Float()
	r.keep(err)
	return f
}

// numbers is an object of numbers by expressions for modules, in its order; nil without it.
func (r *reader) numbers(key string) []alphaOf {
	v := r.v.Get(key)
	if v.IsNull() {
		return nil
	}
	list, err := v.Object()
	if err != nil {
		r.keep(err)
		return nil
	}
	var out []alphaOf
	for i := range list {
		f, err := list[i].Float()
		r.keep(err)
		module, err := regexp.Compile(`^(?:.*\.)?(?:` + list[i].Key + `)$`)
		if err != nil {
			r.keep(list[i].Errorf(diag.AdapterFolder, "is no expression for names of modules: %v", err))
			continue
		}
		out = append(out, alphaOf{module, f})
	}
	return out
}
