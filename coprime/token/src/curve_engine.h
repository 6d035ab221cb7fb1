/* Work with keys on curves, on an engine. */
#ifndef COPRIME_TOKEN_CURVE_ENGINE_H
#define COPRIME_TOKEN_CURVE_ENGINE_H

#include "coprime_curves.h"
#include "crypto.h"
#include "cryptoki.h"
#include "curve_key.h"
#include "device.h"

/* What an engine does with a key on a curve: an error of the driver. Without an engine, driver and
   constants are null, and it is done in software. */
typedef int curve_work(struct coprime *driver, const struct coprime_curve_constants *curve,
                       void *context);

/* Have an engine do work with a key. The work checks its result in software, and ends with
   COPRIME_ERROR_FAULT if it is wrong. Errors as device_run. */
CK_RV curve_engine_run(struct device *device, const struct crypto *crypto, struct curve_key *key,
                       curve_work *work, void *context);

#endif
