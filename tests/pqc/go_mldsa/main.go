// ML-DSA of filippo.io/mldsa, for test_other_ml_dsa.py: a line of words, a line back. Messages and
// contexts have a byte before them, as no word is empty.
//
//	key SET SEED                             -> PK
//	sign SET SEED MESSAGE CONTEXT            -> SIGNATURE
//	verify SET PK MESSAGE CONTEXT SIGNATURE  -> 01 or 00
package main

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"os"
	"strings"

	"filippo.io/mldsa"
)

var sets = map[string]mldsa.Parameters{
	"ML-DSA-44": mldsa.MLDSA44(),
	"ML-DSA-65": mldsa.MLDSA65(),
	"ML-DSA-87": mldsa.MLDSA87(),
}

func answer(words []string) ([]byte, error) {
	data := make([][]byte, 0, 4)
	for _, word := range words[2:] {
		one, err := hex.DecodeString(word)
		if err != nil {
			return nil, err
		}
		data = append(data, one)
	}
	set := sets[words[1]]
	if words[0] == "verify" {
		pk, err := mldsa.NewPublicKey(set, data[0])
		if err != nil {
			return nil, err
		}
		options := &mldsa.Options{Context: string(data[2][1:])}
		if mldsa.Verify(pk, data[1][1:], data[3], options) != nil {
			return []byte{0}, nil
		}
		return []byte{1}, nil
	}
	key, err := mldsa.NewPrivateKey(set, data[0])
	if err != nil {
		return nil, err
	}
	if words[0] == "key" {
		return key.PublicKey().Bytes(), nil
	}
	return key.Sign(nil, data[1][1:], &mldsa.Options{Context: string(data[2][1:])})
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		found, err := answer(strings.Fields(lines.Text()))
		if err != nil {
			fmt.Println("error", err)
			continue
		}
		fmt.Println(hex.EncodeToString(found))
	}
}
