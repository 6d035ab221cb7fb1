#include "policy.h"

static unsigned all;

void policy_set(unsigned allowed)
{
    all = allowed;
}

bool policy_allows(enum allowance allowance)
{
    return all & (unsigned)allowance;
}
