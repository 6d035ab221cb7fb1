// A key on P-256 through crypto11: the token generates it, it is found by its label, and signs; Go's
// crypto/ecdsa verifies. Then it signs a certificate for itself, which the token keeps.
//
//	go run ./ecdsa MODULE TOKEN KEY, with the PIN in the variable PIN
package main

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"math/big"
	"os"
	"time"

	"github.com/ThalesGroup/crypto11"
)

func main() {
	if err := run(os.Args[1], os.Args[2], []byte(os.Args[3]), os.Getenv("PIN")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(module, token string, label []byte, pin string) error {
	context, err := crypto11.Configure(&crypto11.Config{Path: module, TokenLabel: token, Pin: pin})
	if err != nil {
		return err
	}
	defer context.Close()
	made, err := context.GenerateECDSAKeyPairWithLabel([]byte{2}, label, elliptic.P256())
	if err != nil {
		return err
	}
	key, err := context.FindKeyPair(nil, label)
	if err != nil {
		return err
	}
	if key == nil {
		return fmt.Errorf("no key %s", label)
	}
	public := key.Public().(*ecdsa.PublicKey)
	if !public.Equal(made.Public()) {
		return fmt.Errorf("another key was found")
	}
	if err := sign(key, public); err != nil {
		return err
	}
	return certify(context, key, label)
}

// Sign digests that are as long as the key, and longer.
func sign(key crypto.Signer, public *ecdsa.PublicKey) error {
	short, long := sha256.Sum256([]byte("data")), sha512.Sum512([]byte("data"))
	for _, made := range []struct {
		hash   crypto.Hash
		digest []byte
	}{{crypto.SHA256, short[:]}, {crypto.SHA512, long[:]}} {
		signature, err := key.Sign(rand.Reader, made.digest, made.hash)
		if err != nil {
			return err
		}
		if !ecdsa.VerifyASN1(public, made.digest, signature) {
			return fmt.Errorf("a wrong signature with %v", made.hash)
		}
		fmt.Println("signed: ECDSA", made.hash)
	}
	return nil
}

// A certificate that the key signs for itself, kept in the token and found again.
func certify(context *crypto11.Context, key crypto.Signer, label []byte) error {
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		Subject:      pkix.Name{CommonName: "localhost"},
		DNSNames:     []string{"localhost"},
		NotAfter:     time.Now().Add(time.Hour),
	}
	made, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return err
	}
	certificate, err := x509.ParseCertificate(made)
	if err != nil {
		return err
	}
	if err := context.ImportCertificateWithLabel([]byte{2}, label, certificate); err != nil {
		return err
	}
	found, err := context.FindCertificate(nil, label, nil)
	if err != nil {
		return err
	}
	if err := found.CheckSignature(found.SignatureAlgorithm, found.RawTBSCertificate, found.Signature); err != nil {
		return err
	}
	fmt.Println("certified:", found.Subject, found.SignatureAlgorithm)
	return nil
}
