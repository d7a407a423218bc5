package claim

import (
	"bytes"
	"encoding/csv"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

const (
	header = "id,article,place,experiment,statement,kind,metric,case,baseline,value,unit,holds_on,untested,evidence\n"
	rowA   = "a,part4,B,throughput,It is fast.,absolute,B/s,/suite=aes,,4523,MB/s,processor,no,\n"
	rowB   = "b,part4,B,throughput,\"Two\nlines.\",ratio,B/s,/suite=aes,/suite=chacha,4.5,x,,yes,needs time\n"
)

func TestRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "claims.csv")
	// As RFC 4180 has it, and with the columns in another order.
	moved := strings.ReplaceAll("untested,"+strings.Replace(header, "untested,", "", 1)+"no,"+strings.Replace(rowA, "no,", "", 1), "\n", "\r\n")
	for _, content := range []string{header + rowA, moved} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := Read(path)
		if err != nil {
			t.Fatal(err)
		}
		want := []Claim{{ID: "a", Article: "part4", Place: "B", Experiment: "throughput", Statement: "It is fast.", Kind: Absolute,
			Metric: "B/s", Case: "/suite=aes", Value: "4523", Unit: "MB/s", HoldsOn: "processor"}}
		if !slices.Equal(got, want) {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
}

func TestReadErrors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "claims.csv")
	for _, test := range []struct{ name, content, want string }{
		{"empty", "", ":1: no header"},
		{"unknown column", "colour," + header + rowA, `:1: unknown column "colour"`},
		{"missing column", strings.Replace(header, ",evidence", "", 1), `:1: the column "evidence" is missing`},
		{"column twice", "id," + header, `:1: the column "id" is there twice`},
		{"short row", header + rowA + "b,part4\n", ":3: wrong number of fields"},
		{"quote", header + rowA + "b,\"part\"4\n", ":3: extraneous or missing"},
		{"id twice", header + rowB + rowA + rowA, `:5: the id "a" is that of line 4`},
		{"unknown kind", header + rowA + strings.Replace(rowB, "ratio", "rate", 1), `:3: kind "rate": want one of ["absolute" `},
		{"untested", header + strings.Replace(rowA, "no,", "maybe,", 1), `:2: untested "maybe": want yes or no`},
		{"no id", header + strings.Replace(rowA, "a,", ",", 1), `:2: the column "id" is empty`},
		{"no statement", header + strings.Replace(rowA, "It is fast.", " ", 1), `:2: the column "statement" is empty`},
	} {
		t.Run(test.name, func(t *testing.T) {
			if err := os.WriteFile(path, []byte(test.content), 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := Read(path)
			if err == nil || !strings.HasPrefix(err.Error(), path+test.want) {
				t.Errorf("got %v, %v; want the error %q", got, err, path+test.want)
			}
		})
	}
	if _, err := Read(path + ".none"); !os.IsNotExist(err) {
		t.Errorf("a missing file: %v", err)
	}
}

// FuzzRead checks that what is accepted comes back when it is written again,
// and that nothing in a row stops its verdict.
func FuzzRead(f *testing.F) {
	f.Add([]byte(header + rowA + rowB))
	f.Add([]byte(header + "c,p,A,x,s,ordering,lost-capacity of B/s; u,/a=b over /c=d; y: /e=f,/a=b,equal,,h,no,not y: /check=n; a/b.go C; TestC; needs experiment z: why\n"))
	f.Add([]byte(header + "d,p,A,x,s,formula,u,/a=b,/a=c,1/4,us,,no,\n"))
	f.Add([]byte(header + "e,p,A,x,s,count,u + v,/a=b/record=01-c,,1*RTT,ms,,no,u /a=b is 2; not u /a=b as /a=c\n"))
	f.Add([]byte(header + "f,p,A,x,s,formula,round-trips of u,/wire=1+1ms,/wire=1+1ms/b=c,2*3+rest,ms,,no,\n"))
	f.Fuzz(func(t *testing.T, content []byte) {
		claims, line, err := parse(bytes.NewReader(content))
		if err != nil {
			if line < 1 {
				t.Errorf("error %v in line %d", err, line)
			}
			return
		}
		var b bytes.Buffer
		w := csv.NewWriter(&b)
		names := strings.Split(strings.TrimSpace(header), ",")
		_ = w.Write(names)
		for _, c := range claims {
			columns := c.columns()
			*columns["untested"] = map[bool]string{true: "yes", false: "no"}[c.Untested]
			var row []string
			for _, name := range names {
				row = append(row, *columns[name])
			}
			_ = w.Write(row)
			Judge(c, Tables{c.Experiment: table(t, nil)}, "one")
		}
		w.Flush()
		again, _, err := parse(&b)
		if err != nil || !reflect.DeepEqual(again, claims) {
			t.Errorf("read %q again: %v, %v; want %v", &b, again, err, claims)
		}
	})
}

func TestPublished(t *testing.T) {
	for _, test := range []struct {
		value, unit string
		want        Published
		ok          bool
	}{
		{"1060", "us", Published{1060e-6, 1060e-6, "sec"}, true},
		{"0.40", "ms", Published{0.40e-3, 0.40e-3, "sec"}, true},
		{"200-230", "us", Published{200e-6, 230e-6, "sec"}, true},
		{"4523", "MB/s", Published{4523e6, 4523e6, "B/s"}, true},
		{"11.85", "ns/B", Published{11.85e-9, 11.85e-9, "sec/B"}, true},
		{"1556", "B", Published{1556, 1556, "B"}, true},
		{"16", "KiB", Published{16384, 16384, "B"}, true},
		{"2-4.6", "x", Published{2, 4.6, ""}, true},
		{"4/5", "", Published{0.8, 0.8, ""}, true},
		{"25", "%", Published{0.25, 0.25, ""}, true},
		{"3", "records", Published{3, 3, "records"}, true},
		{"0", "rtt", Published{0, 0, "round-trips"}, true},
		{"1*RTT", "ms", Published{1, 1, "round-trips"}, true},
		{"3*50+processing", "ms", Published{0.15, 0.15, "sec"}, true},
		{"50+50+rest", "ms", Published{0.1, 0.1, "sec"}, true},
		{"50+50", "ms", Published{}, false},
		{"rest+50", "ms", Published{}, false},
		{"1.2.3+rest", "ms", Published{}, false},
		{"24.5+27=50", "KB", Published{}, false},
		{"all*RTT", "ms", Published{}, false},
		{"1/0", "", Published{}, false},
		{"4.6-2", "x", Published{}, false},
		{"2^32", "", Published{}, false},
		{">1", "x", Published{}, false},
		{"equal", "", Published{}, false},
		{"inf", "", Published{}, false},
		{"-1", "us", Published{}, false},
		{"", "us", Published{}, false},
	} {
		got, ok := Claim{Value: test.value, Unit: test.unit}.Published()
		near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-12*b }
		if !near(got.Low, test.want.Low) || !near(got.High, test.want.High) || got.Unit != test.want.Unit || ok != test.ok {
			t.Errorf("%q %q: %v, %v; want %v, %v", test.value, test.unit, got, ok, test.want, test.ok)
		}
	}
}

func TestFind(t *testing.T) {
	claims := []Claim{
		{ID: "both", Experiment: "x", Kind: Absolute, Metric: "B/s", Case: "/a=1; /a=2", Value: "800-1000", Unit: "MB/s"},
		{ID: "terms", Experiment: "x", Kind: Absolute, Metric: "throughput", Case: "a=1", Value: "1", Unit: "MB/s"},
		{ID: "open", Experiment: "x", Kind: Absolute, Metric: "B/s", Case: "/a=1", Value: "2", Unit: "MB/s", Untested: true},
		{ID: "other", Experiment: "y", Kind: Absolute, Metric: "B/s", Case: "/a=1", Value: "3", Unit: "MB/s"},
		{ID: "word", Experiment: "x", Kind: Ordering, Metric: "B/s", Case: "/a=1", Baseline: "/a=2", Value: "equal"},
		{ID: "formula", Experiment: "x", Kind: Ratio, Metric: "lost-capacity of B/s", Case: "/a=1", Baseline: "/a=2", Value: "4/5"},
		{ID: "one", Experiment: "x", Kind: Absolute, Metric: "B/s", Case: "/a=1", Value: "4", Unit: "MB/s"},
		{ID: "bytes", Experiment: "x", Kind: Bytes, Metric: "sent-B/op", Case: "/a=1", Baseline: "/a=2", Value: "5", Unit: "B"},
		{ID: "ratio", Experiment: "x", Kind: Ratio, Metric: "B/s", Case: "/a=1", Baseline: "/a=2", Value: "6", Unit: "x"},
		{ID: "difference", Experiment: "x", Kind: Difference, Metric: "B/s", Case: "/a=1", Baseline: "/a=2", Value: "7", Unit: "MB/s"},
		{ID: "elsewhere", Experiment: "y", Kind: Absolute, Metric: "B/s", Case: "x: /a=5", Value: "8", Unit: "MB/s"},
		{ID: "abroad", Experiment: "x", Kind: Absolute, Metric: "B/s", Case: "y: /a=6", Value: "9", Unit: "MB/s"},
	}
	for key, want := range map[string]string{
		"B/s /a=1":            "one",
		"B/s /a=2":            "",
		"sent-B/op /a=1":      "bytes",
		"B/s /a=1 over /a=2":  "ratio",
		"B/s /a=1 minus /a=2": "difference",
		"B/s /a=5":            "elsewhere",
		"B/s /a=6":            "",
		"":                    "",
	} {
		c, ok := Find(claims, "x", key)
		if c.ID != want || ok != (want != "") {
			t.Errorf("%q: found %q, %v; want %q", key, c.ID, ok, want)
		}
	}
}

func TestPairs(t *testing.T) {
	claims := []Claim{
		{Experiment: "x", Kind: Absolute, Metric: "B/s", Case: "/a=1", Baseline: "/a=9"},
		{Experiment: "x", Kind: Ratio, Metric: "B/s; sec/op", Case: "/a=1; /a=2", Baseline: "/a=3"},
		{Experiment: "x", Kind: Ordering, Metric: "B/s", Case: "/a=1; /a=5", Baseline: "/a=3; /a=6"},
		{Experiment: "x", Kind: Ordering, Metric: "B/s", Case: "/a=7 over /a=8", Baseline: "y: /b=1 over /b=2"},
		{Experiment: "x", Kind: Difference, Metric: "lost-capacity of sec/op", Case: "/a=1", Baseline: "/a=4"},
		{Experiment: "x", Kind: Ratio, Metric: "B/s", Case: "/a=1", Baseline: "part 2"},
		{Experiment: "z", Kind: Behaviour, Metric: "B/s", Case: "y: /b=3", Baseline: "y: /b=4", Untested: true},
		{Experiment: "z", Kind: Behaviour, Evidence: "y: waits/op /b=5 as /b=6; y: waits/op /b=5 is 1"},
	}
	for experiment, want := range map[string][]Pair{
		"x": {
			{"B/s", "/a=1", "/a=3"}, {"B/s", "/a=2", "/a=3"}, {"sec/op", "/a=1", "/a=3"}, {"sec/op", "/a=2", "/a=3"},
			{"B/s", "/a=5", "/a=6"}, {"B/s", "/a=7", "/a=8"}, {"sec/op", "/a=1", "/a=4"},
		},
		"y": {{"B/s", "/b=1", "/b=2"}, {"B/s", "/b=3", "/b=4"}, {"waits/op", "/b=5", "/b=6"}},
		"z": nil,
	} {
		if got := Pairs(claims, experiment); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", experiment, got, want)
		}
	}
}
