package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"cryptocost/data"
	"cryptocost/env"
)

// describe says what a side is.
func describe(t *table, s *side) {
	title := fmt.Sprintf("%s  %s: machine %s, %s, %s threads, %s/%s, %s", s.label, s.dir,
		s.all("machine"), s.all("cpu-brand"), s.all("cpu-threads"), s.all("goos"), s.all("goarch"), s.all("go"))
	for _, name := range slices.Sorted(maps.Keys(s.files)) {
		config := s.files[name].File.Config
		revision := config["revision"]
		if len(revision) > 12 {
			revision = revision[:12]
		}
		if config["revision-dirty"] == "true" {
			revision += " with changes"
		}
		t.add(title, name, config["profile"], config["rounds"], config["cases"], revision)
	}
	if len(s.files) == 0 {
		t.add(title, "no experiment can be read", "", "", "", "")
	}
}

// all gives the values that a key has in the files of the side; more than one
// where they come from several machines or builds.
func (s *side) all(key string) string {
	var values []string
	for _, name := range slices.Sorted(maps.Keys(s.files)) {
		values = append(values, s.files[name].File.Config[key])
	}
	slices.Sort(values)
	return cmp.Or(strings.Join(slices.Compact(values), " or "), env.Unknown)
}

// A difference is one of the environments or settings of two runs.
type difference struct{ key, a, b string }

// environment lists how two descriptions differ, the most important first:
// what env knows, the same of a server on a machine of its own, the versions
// of outside programs.
func environment(a, b map[string]string) []difference {
	var list []difference
	for _, d := range env.Diff(a, b) {
		list = append(list, difference{d.Key.Name, d.A, d.B})
	}
	switch thereA, thereB := server(a), server(b); {
	case (len(thereA) > 0) != (len(thereB) > 0):
		list = append(list, difference{"server", place(thereA), place(thereB)})
	default:
		for _, d := range env.Diff(thereA, thereB) {
			list = append(list, difference{data.ServerPrefix + d.Key.Name, d.A, d.B})
		}
	}
	known := slices.Clone(data.Settings)
	for _, k := range env.Keys() {
		known = append(known, k.Name)
	}
	for _, k := range union(slices.Collect(maps.Keys(a)), slices.Collect(maps.Keys(b))) {
		if !slices.Contains(known, k) && !strings.HasPrefix(k, data.ServerPrefix) && a[k] != b[k] {
			list = append(list, difference{k, cmp.Or(a[k], env.None), cmp.Or(b[k], env.None)})
		}
	}
	return list
}

// place says where the server was.
func place(server map[string]string) string {
	if len(server) == 0 {
		return "on the client's machine"
	}
	return "on a machine of its own"
}

// environments gathers the differences of all experiments. What holds for
// only some of them is said with their names.
func environments(all []*comparison) table {
	t := table{group: "key", columns: []string{"", ""}}
	in := map[difference][]string{}
	var order []difference
	for _, c := range all {
		for _, d := range environment(c.a.File.Config, c.b.File.Config) {
			if in[d] == nil {
				order = append(order, d)
			}
			in[d] = append(in[d], c.name)
		}
	}
	for _, d := range order {
		key := d.key
		if len(in[d]) < len(all) {
			key += " (" + strings.Join(in[d], ", ") + ")"
		}
		a, b := apart(d.a, d.b)
		t.add(key, "A", a)
		t.add(key, "B", b)
	}
	return t
}

// apart shortens two long lists, such as the features of processors, to what
// only one of them has.
func apart(a, b string) (string, string) {
	const long = 120
	if max(len(a), len(b)) < long {
		return a, b
	}
	separator := " "
	if strings.Contains(a+b, " | ") {
		separator = " | "
	}
	wordsA, wordsB := strings.Split(a, separator), strings.Split(b, separator)
	return "only here: " + cmp.Or(strings.Join(without(wordsA, wordsB), separator), "nothing"),
		"only here: " + cmp.Or(strings.Join(without(wordsB, wordsA), separator), "nothing")
}

// without gives the words that others do not have.
func without(words, others []string) []string {
	return slices.DeleteFunc(slices.Clone(words), func(w string) bool { return slices.Contains(others, w) })
}

// meanings say what it means for a comparison that a setting differs.
var meanings = map[string]string{
	"profile": "only a name for rounds and quota",
	"rounds":  "the run with fewer has the wider intervals",
	"seed":    "the cases took turns in another order; costs do not depend on it",
	"cases":   "cases of only one run are not compared; fewer cases share the machine",
	"passes":  "the quota by the slice",
	"quota":   "measured time of a case and round: with less the rounds scatter more; medians are comparable",
	"slice":   "work at a stretch: caches are warmer in a longer one, so costs may differ for that alone",
}

// settings lists the differences of the runs' own settings.
func settings(all []*comparison) table {
	t := table{group: "experiment", columns: []string{"", "A", "B", "meaning"}}
	for _, c := range all {
		a, b := c.a.File.Config, c.b.File.Config
		for _, key := range data.Settings {
			if meaning, ok := meanings[key]; ok && a[key] != b[key] {
				t.add(c.name, key, a[key], b[key], meaning)
			}
		}
	}
	return t
}

// notCompared lists what is not compared, and why. Without all, at most a few
// cases are named for each reason.
func notCompared(a, b *side, comparisons []*comparison, all bool) table {
	t := table{group: "reason", columns: []string{""}}
	for _, name := range experiments(a, b) {
		if reason := lack(a, b, name); reason != "" {
			t.add(name + ": " + reason)
		}
	}
	for _, c := range comparisons {
		for _, m := range []struct{ label, doubt string }{{a.label, tooFew(c.a)}, {b.label, tooFew(c.b)}} {
			if m.doubt != "" {
				t.add(fmt.Sprintf("%s: %s of %s: medians are given, nothing is decided", c.name, m.doubt, m.label))
			}
		}
		if c.baseline == "" {
			t.add(c.name + ": no common case has a twin, so nothing is known of the noise: medians are given, nothing is decided")
		}
		c.addGaps(&t, all)
	}
	return t
}

// addGaps writes the gaps of a comparison by their reasons.
func (c *comparison) addGaps(t *table, all bool) {
	const named = 3
	var reasons []string
	cases := map[string][]string{}
	for _, g := range c.gaps {
		if cases[g.why] == nil {
			reasons = append(reasons, g.why)
		}
		cases[g.why] = append(cases[g.why], g.what)
	}
	for _, why := range reasons {
		list := cases[why]
		if rest := len(list) - named; rest > 1 && !all {
			list = append(slices.Clone(list[:named]), fmt.Sprintf("and %d more (-all names them)", rest))
		}
		for _, what := range list {
			t.add(c.name+": "+why, what)
		}
	}
}
