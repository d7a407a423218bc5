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

// machineTable describes every machine of the paper: all keys that the
// machines' files agree on among experiments, with their sources.
func (p *paper) machineTable() string {
	descriptions := map[string]map[string]string{}
	for _, name := range sections {
		for _, m := range p.experiments[name].machines {
			if descriptions[m.Name] == nil {
				descriptions[m.Name] = map[string]string{}
			}
			for key, value := range m.File.Config {
				descriptions[m.Name][key] = value
			}
		}
	}
	machines := slices.Sorted(maps.Keys(descriptions))
	head := append([]string{"key"}, machines...)
	var rows [][]string
	for _, key := range env.Keys() {
		if key.Volatile {
			continue
		}
		row := []string{"`" + key.Name + "`"}
		for _, m := range machines {
			row = append(row, strings.ReplaceAll(descriptions[m][key.Name], "|", "\\|"))
		}
		rows = append(rows, row)
	}
	return strings.TrimSpace(study.Markdown(head, rows))
}

// simulationRounds is the number of rounds of the standard profile.
const simulationRounds = 12

// simulationTable shows how often the intervals hold what they promise, over
// all shapes of samples. The seed and the number of replications are fixed.
func simulationTable() string {
	const seed, replications = 1, 1000
	var methods []string
	byMethod := map[string][]stat.SimulationRow{}
	for _, r := range stat.Simulate(seed, replications) {
		if r.N != simulationRounds {
			continue
		}
		if byMethod[r.Method] == nil {
			methods = append(methods, r.Method)
		}
		byMethod[r.Method] = append(byMethod[r.Method], r)
	}
	span := func(method string, oneSided bool, of func(stat.SimulationRow) float64) string {
		var all []float64
		for _, r := range byMethod[method] {
			if v := of(r); !math.IsNaN(v) && oneSided == (r.Shape == stat.OneSided) {
				all = append(all, v)
			}
		}
		if len(all) == 0 {
			return "—"
		}
		if oneSided {
			return number.Percent(all[0])
		}
		return number.Percent(slices.Min(all)) + " to " + number.Percent(slices.Max(all))
	}
	coverage := func(r stat.SimulationRow) float64 { return r.Coverage }
	var rows [][]string
	for _, m := range methods {
		rows = append(rows, []string{
			m,
			span(m, false, coverage),
			span(m, false, func(r stat.SimulationRow) float64 { return r.FalseAlarms }),
			span(m, false, func(r stat.SimulationRow) float64 { return r.Power }),
			span(m, true, coverage),
		})
	}
	head := []string{fmt.Sprintf("%d rounds, %s simulations of each shape", simulationRounds, number.Count(replications)), "the interval holds the truth", "A/A called different", "a slowdown of 5 % is found", "holds the truth, one case noisy, one quiet"}
	return strings.TrimSpace(study.Markdown(head, rows))
}
