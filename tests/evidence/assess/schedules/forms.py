"""Forms of a theorem's statements, on numbers."""


def values(forms, numbers, q):
    """Of forms of the first degree, or the second one, modulo q."""
    found = []
    for form in forms:
        total = 0
        for monomial, coefficient in form.items():
            for symbol in monomial:
                coefficient = coefficient * numbers[symbol] % q
            total += coefficient
        found.append(total % q)
    return found
