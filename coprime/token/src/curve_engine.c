#include "curve_engine.h"

/* Work with a key on a curve. */
struct multiplication {
    const struct crypto *crypto;
    struct curve_constants *constants;
    const struct curve *curve;
    curve_work *work;
    void *context;
};

static int run(struct engine *engine, void *context)
{
    const struct multiplication *const wanted = context;
    const struct coprime_curve_constants *constants;
    int error;

    engine->loaded = 0; /* nothing stays loaded that another operation could use */
    error = curve_constants_find(wanted->constants, wanted->crypto, engine->driver, wanted->curve,
                                 &constants);
    return error ? error : wanted->work(engine->driver, constants, wanted->context);
}

static int run_in_software(void *context)
{
    const struct multiplication *const wanted = context;

    return wanted->work(NULL, NULL, wanted->context);
}

CK_RV curve_engine_run(struct device *device, const struct crypto *crypto, struct curve_key *key,
                       curve_work *work, void *context)
{
    static const struct device_job job = {
        .sort = NUMBER_ENGINE, .run = run, .in_software = run_in_software};
    struct multiplication wanted = {crypto, device_curves(device), key->curve, work, context};

    return device_run(device, &key->base, &job, &wanted);
}
