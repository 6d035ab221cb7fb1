// A certificate authority whose key is the token's, through the KMS of step: the key is generated in
// the token, its certificate is kept there, and both are found again.
//
//	go run ./step MODULE TOKEN [p256], with the PIN in the variable PIN; without p256 a key of RSA-2048
package main

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"math/big"
	"os"
	"time"

	"go.step.sm/crypto/kms/apiv1"
	"go.step.sm/crypto/kms/pkcs11"
)

const name = "pkcs11:id=0a;object=authority"

// A kind of key, and the signatures that it makes.
type keyKind struct {
	request    apiv1.CreateKeyRequest
	signatures []x509.SignatureAlgorithm
}

var (
	rsa2048 = keyKind{
		apiv1.CreateKeyRequest{Name: name, SignatureAlgorithm: apiv1.SHA256WithRSA, Bits: 2048},
		[]x509.SignatureAlgorithm{x509.SHA256WithRSA, x509.SHA256WithRSAPSS},
	}
	p256 = keyKind{
		apiv1.CreateKeyRequest{Name: name, SignatureAlgorithm: apiv1.ECDSAWithSHA256},
		[]x509.SignatureAlgorithm{x509.ECDSAWithSHA256, x509.ECDSAWithSHA512},
	}
)

func main() {
	uri := fmt.Sprintf("pkcs11:module-path=%s;token=%s", os.Args[1], os.Args[2])
	kind := rsa2048
	if len(os.Args) > 3 && os.Args[3] == "p256" {
		kind = p256
	}
	if err := run(uri, os.Getenv("PIN"), kind); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(uri, pin string, kind keyKind) error {
	keys, err := pkcs11.New(context.Background(), apiv1.Options{URI: uri, Pin: pin})
	if err != nil {
		return err
	}
	defer keys.Close()
	if _, err := keys.CreateKey(&kind.request); err != nil {
		return err
	}
	authority, err := keys.CreateSigner(&apiv1.CreateSignerRequest{SigningKey: name})
	if err != nil {
		return err
	}
	root, err := makeRoot(authority)
	if err != nil {
		return err
	}
	if err := keys.StoreCertificate(&apiv1.StoreCertificateRequest{Name: name, Certificate: root}); err != nil {
		return err
	}
	found, err := keys.LoadCertificate(&apiv1.LoadCertificateRequest{Name: name})
	if err != nil {
		return err
	}
	fmt.Println("stored:", found.Subject)
	return issue(found, authority, kind.signatures)
}

// The authority's own certificate.
func makeRoot(authority crypto.Signer) (*x509.Certificate, error) {
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		Subject:               pkix.Name{CommonName: "authority"},
		NotAfter:              time.Now().Add(time.Hour),
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageCertSign,
	}
	made, err := x509.CreateCertificate(rand.Reader, template, template, authority.Public(), authority)
	if err != nil {
		return nil, err
	}
	return x509.ParseCertificate(made)
}

// Issue a certificate with each signature of the key, and verify it.
func issue(root *x509.Certificate, authority crypto.Signer, signatures []x509.SignatureAlgorithm) error {
	roots := x509.NewCertPool()
	roots.AddCert(root)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	for _, algorithm := range signatures {
		template := &x509.Certificate{
			SerialNumber:       big.NewInt(2),
			DNSNames:           []string{"localhost"},
			NotAfter:           time.Now().Add(time.Hour),
			SignatureAlgorithm: algorithm,
		}
		made, err := x509.CreateCertificate(rand.Reader, template, root, &key.PublicKey, authority)
		if err != nil {
			return fmt.Errorf("%v: %w", algorithm, err)
		}
		issued, err := x509.ParseCertificate(made)
		if err != nil {
			return err
		}
		if _, err := issued.Verify(x509.VerifyOptions{DNSName: "localhost", Roots: roots}); err != nil {
			return fmt.Errorf("%v: %w", algorithm, err)
		}
		fmt.Println("issued:", algorithm)
	}
	return nil
}
