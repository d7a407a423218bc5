package aes

import "testing"

func TestWithout(t *testing.T) {
	for goarch := range masks {
		environ, err := Without(goarch)
		if err != nil || len(environ) != 2 {
			t.Errorf("%s: got %q, %v, want a variable each for Go and OpenSSL", goarch, environ, err)
		}
	}
	if _, err := Without("m68k"); err == nil {
		t.Error("no error for an architecture that is not in the table")
	}
}

func TestUsedByOpenSSL(t *testing.T) {
	for _, test := range []struct {
		goarch, settings string
		want, wantErr    bool
	}{
		{goarch: "amd64", settings: "OPENSSL_ia32cap=0xfffa3203078bffff:0x40069c219c07ab", want: true},
		{goarch: "amd64", settings: "OPENSSL_ia32cap=0xfdfa3201078bffff:0x40009c219c07ab env:~0x200000200000000:~0x60000000000"},
		{goarch: "amd64", settings: "OPENSSL_ia32cap=0x7ffaf3bfffebffff:0x18c05fcef3bfa7eb:0x10:0x0:0x0", want: true},
		{goarch: "arm64", settings: "OPENSSL_armcap=0x7d", want: true},
		{goarch: "arm64", settings: "OPENSSL_armcap=0x1 env:1"},
		{goarch: "arm64", settings: "OPENSSL_ia32cap=0xfffa3203078bffff", wantErr: true},
		{goarch: "amd64", settings: "OPENSSL_ia32cap=0x", wantErr: true},
		{goarch: "amd64", settings: "OPENSSL_ia32cap=0x123456789abcdef01:0x1", wantErr: true},
		{goarch: "amd64", settings: "", wantErr: true},
		{goarch: "m68k", settings: "OPENSSL_ia32cap=0x1:0x1", wantErr: true},
	} {
		got, err := UsedByOpenSSL(test.goarch, test.settings)
		if got != test.want || (err != nil) != test.wantErr {
			t.Errorf("%s, %q: got %t, %v, want %t, an error: %t", test.goarch, test.settings, got, err, test.want, test.wantErr)
		}
	}
}
