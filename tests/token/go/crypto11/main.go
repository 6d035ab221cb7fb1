// A key of the token through crypto11: signatures and decryptions, each checked by Go's crypto/rsa.
//
//	go run ./crypto11 MODULE TOKEN KEY, with the PIN in the variable PIN
package main

import (
	"bytes"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	_ "crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"fmt"
	"os"

	"github.com/ThalesGroup/crypto11"
)

func main() {
	if err := run(os.Args[1], os.Args[2], os.Args[3], os.Getenv("PIN")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(module, token, label, pin string) error {
	context, err := crypto11.Configure(&crypto11.Config{Path: module, TokenLabel: token, Pin: pin})
	if err != nil {
		return err
	}
	defer context.Close()
	key, err := context.FindKeyPair(nil, []byte(label))
	if err != nil {
		return err
	}
	if key == nil {
		return fmt.Errorf("no key %s", label)
	}
	if err := sign(key); err != nil {
		return err
	}
	return decrypt(key.(crypto11.SignerDecrypter))
}

// Sign with PKCS #1 v1.5 and with PSS.
func sign(key crypto11.Signer) error {
	public := key.Public().(*rsa.PublicKey)
	short, long := sha256.Sum256([]byte("data")), sha512.Sum512([]byte("data"))
	for _, made := range []struct {
		hash   crypto.Hash
		digest []byte
	}{{crypto.SHA256, short[:]}, {crypto.SHA512, long[:]}} {
		signature, err := key.Sign(rand.Reader, made.digest, made.hash)
		if err == nil {
			err = rsa.VerifyPKCS1v15(public, made.hash, made.digest, signature)
		}
		if err != nil {
			return fmt.Errorf("PKCS #1 v1.5 with %v: %w", made.hash, err)
		}
		fmt.Println("signed: PKCS #1 v1.5", made.hash)

		options := &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash, Hash: made.hash}
		signature, err = key.Sign(rand.Reader, made.digest, options)
		if err == nil {
			err = rsa.VerifyPSS(public, made.hash, made.digest, signature, options)
		}
		if err != nil {
			return fmt.Errorf("PSS with %v: %w", made.hash, err)
		}
		fmt.Println("signed: PSS", made.hash)
	}
	return nil
}

// Decrypt what Go has encrypted, with PKCS #1 v1.5 and with OAEP.
func decrypt(key crypto11.SignerDecrypter) error {
	public := key.Public().(*rsa.PublicKey)
	message := []byte("a message")

	encrypted, err := rsa.EncryptPKCS1v15(rand.Reader, public, message)
	if err != nil {
		return err
	}
	if err := check(key, encrypted, nil, message); err != nil {
		return fmt.Errorf("PKCS #1 v1.5: %w", err)
	}
	fmt.Println("decrypted: PKCS #1 v1.5")

	for _, hash := range []crypto.Hash{crypto.SHA1, crypto.SHA256} {
		encrypted, err = rsa.EncryptOAEP(hash.New(), rand.Reader, public, message, nil)
		if err != nil {
			return err
		}
		if err := check(key, encrypted, &rsa.OAEPOptions{Hash: hash}, message); err != nil {
			return fmt.Errorf("OAEP with %v: %w", hash, err)
		}
		fmt.Println("decrypted: OAEP", hash)
	}
	return nil
}

func check(key crypto.Decrypter, encrypted []byte, options crypto.DecrypterOpts, message []byte) error {
	decrypted, err := key.Decrypt(rand.Reader, encrypted, options)
	if err == nil && !bytes.Equal(decrypted, message) {
		err = fmt.Errorf("another message: %x", decrypted)
	}
	return err
}
