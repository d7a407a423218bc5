package aead

import (
	"errors"
	"regexp"
	"strings"
	"testing"
)

func TestVersion(t *testing.T) {
	if version := library(t).Version(); !regexp.MustCompile(`^[3-9]\.\d+\.\d+$`).MatchString(version) {
		t.Errorf("got %q, want three numbers", version)
	}
}

func TestNoLibcrypto(t *testing.T) {
	cause := errors.New("no such file")
	err := noLibcrypto(cause)
	if !errors.Is(err, ErrNoLibcrypto) || !errors.Is(err, cause) || !strings.Contains(err.Error(), "install openssl") {
		t.Errorf("got %v, want ErrNoLibcrypto, the cause and what to install", err)
	}
}
