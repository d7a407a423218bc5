package trial

import (
	"strings"
	"testing"
)

func TestChoose(t *testing.T) {
	cases := []Case{{Name: "/check-wire=a", Whole: true, First: true}, {Name: "/check-wire=b", Whole: true, First: true},
		{Name: "/wire=a/conn=x", Needs: []string{"/check-wire=a"}}, {Name: "/wire=b/conn=x", Needs: []string{"/check-wire=b"}}, {Name: "/conn=y"}}
	for _, test := range []struct{ pattern, want, fails string }{
		{pattern: "", want: "/check-wire=a /check-wire=b /wire=a/conn=x /wire=b/conn=x /conn=y"},
		{pattern: "wire=a/conn", want: "/check-wire=a /wire=a/conn=x"},
		{pattern: "conn=x", want: "/check-wire=a /check-wire=b /wire=a/conn=x /wire=b/conn=x"},
		{pattern: "conn=y", want: "/conn=y"},
		{pattern: "conn=z", fails: "no case matches \"conn=z\""},
		{pattern: "(", fails: "case pattern"},
	} {
		chosen, err := settings{cases: test.pattern}.choose(cases)
		if test.fails != "" {
			if err == nil || !strings.Contains(err.Error(), test.fails) {
				t.Errorf("%q: %v, want %q", test.pattern, err, test.fails)
			}
			continue
		}
		var names []string
		for _, c := range chosen {
			names = append(names, c.Name)
		}
		if got := strings.Join(names, " "); err != nil || got != test.want {
			t.Errorf("%q chooses %s (%v), want %s", test.pattern, got, err, test.want)
		}
	}
	for want, wrong := range map[string]Case{
		"is needed by another": {Name: "/a=b", Needs: []string{"/c=d"}},
		"is not whole":         {Name: "/a=b", First: true},
	} {
		if _, err := (settings{}).choose([]Case{wrong}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
