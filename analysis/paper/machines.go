package main

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"cryptocost/analysis/internal/number"
	"cryptocost/analysis/internal/stat"
	"cryptocost/analysis/internal/study"
	"cryptocost/env"
)

// machineLine says in a sentence what the machine at hand is.
func (p *paper) machineLine() string {
	of := p.descriptions()[p.machine]
	line := fmt.Sprintf("%s, %s logical processors, %s, %s on %s, built with %s", of["cpu-brand"], of["cpu-threads"], hypervisor(of), of["os-name"], of["goarch"], of["go"])
	if version, ok := of["tool-libcrypto"]; ok {
		line += ", OpenSSL " + version
	}
	return line
}

func hypervisor(of map[string]string) string {
	if h := of["hypervisor"]; h != env.None && h != env.Unknown && h != "" {
		return "a virtual machine (" + h + ")"
	}
	return "no hypervisor seen"
}

// descriptions are the headers of every machine's files, by machine and key.
// Where the files of a machine differ, the values are joined.
func (p *paper) descriptions() map[string]map[string]string {
	all := map[string]map[string][]string{}
	for _, name := range sections {
		for _, m := range p.experiments[name].machines {
			if all[m.Name] == nil {
				all[m.Name] = map[string][]string{}
			}
			for key, value := range m.File.Config {
				if !slices.Contains(all[m.Name][key], value) {
					all[m.Name][key] = append(all[m.Name][key], value)
				}
			}
		}
	}
	joined := map[string]map[string]string{}
	for machine, keys := range all {
		joined[machine] = map[string]string{}
		for key, values := range keys {
			joined[machine][key] = strings.Join(values, "; ")
		}
	}
	return joined
}

// machineTable describes every machine of the paper.
func (p *paper) machineTable() string {
	descriptions := p.descriptions()
	machines := slices.Sorted(maps.Keys(descriptions))
	var keys []string
	for _, key := range env.Keys() {
		if !key.Volatile {
			keys = append(keys, key.Name)
		}
	}
	for _, m := range machines {
		for key := range descriptions[m] {
			if strings.HasPrefix(key, "tool-") {
				keys = append(keys, key)
			}
		}
	}
	slices.Sort(keys)
	var rows [][]string
	for _, key := range slices.Compact(keys) {
		row := []string{"`" + key + "`"}
		for _, m := range machines {
			row = append(row, strings.ReplaceAll(descriptions[m][key], "|", "\\|"))
		}
		rows = append(rows, row)
	}
	return strings.TrimSpace(study.Markdown(append([]string{"key"}, machines...), rows))
}

// simulationRounds is the number of rounds of the standard profile.
const simulationRounds = 12

// rejected are methods that the study does not use.
var rejected = map[string]bool{"interpolated median": true, "paired ratio by order statistics": true}

// simulationTable shows how often the intervals hold what they promise, over
// all shapes of samples. The seed and the number of replications are fixed.
func simulationTable() string {
	const seed, replications = 1, 1000
	var methods []string
	byMethod := map[string][]stat.SimulationRow{}
	for _, r := range stat.Simulate(seed, replications) {
		if r.N != simulationRounds || rejected[r.Method] {
			continue
		}
		if byMethod[r.Method] == nil {
			methods = append(methods, r.Method)
		}
		byMethod[r.Method] = append(byMethod[r.Method], r)
	}
	span := func(method string, of func(stat.SimulationRow) float64) string {
		var all []float64
		for _, r := range byMethod[method] {
			if v := of(r); !math.IsNaN(v) && r.Shape != stat.OneSided {
				all = append(all, v)
			}
		}
		if len(all) == 0 {
			return "—"
		}
		return number.Percent(slices.Min(all)) + " to " + number.Percent(slices.Max(all))
	}
	shape := func(method, shape string, of func(stat.SimulationRow) float64) string {
		for _, r := range byMethod[method] {
			if r.Shape == shape {
				return number.Percent(of(r))
			}
		}
		return "—"
	}
	coverage := func(r stat.SimulationRow) float64 { return r.Coverage }
	var rows [][]string
	for _, m := range methods {
		rows = append(rows, []string{
			m,
			span(m, coverage),
			span(m, func(r stat.SimulationRow) float64 { return r.FalseAlarms }),
			span(m, func(r stat.SimulationRow) float64 { return r.Power }),
			shape(m, stat.StrongDrift, func(r stat.SimulationRow) float64 { return r.Power }),
			shape(m, stat.OneSided, coverage),
		})
	}
	head := []string{fmt.Sprintf("%d rounds with noise of about 10 %%, %s simulations of each shape", simulationRounds, number.Count(replications)), "the interval holds the truth", "A/A called different", "a slowdown of 5 % is found", "found where all rounds drift", "holds the truth, one case noisy, one quiet"}
	return strings.TrimSpace(study.Markdown(head, rows))
}
