/* ML-KEM on the accelerator: a key pair, an encapsulation for it, its decapsulation, and that of an
   altered ciphertext.

   The job lies in memory already. All that is printed goes to the UART; coprime/soc/ml_kem.py reads
   it. */
#include <stdint.h>

#include "ml_kem_use.h"
#include "system.h"

int main(void)
{
    struct coprime driver = accelerator_driver();
    int error = coprime_open(&driver);

    error = error ? error : use_ml_kem(&driver, (const struct ml_kem_job *)SYSTEM_JOB);
    if (error) {
        print("the accelerator failed: ");
        print(coprime_error_text(error));
        print("\n");
        return 1;
    }
    print_end();
    return 0;
}
