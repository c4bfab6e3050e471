"""The sections of a report below the evidence: the function, its agreement with the data, and caveats."""

from fewvars.estimators.summary import doubts
from fewvars.heads import head_types
from fewvars.report import _figures as figures
from fewvars.report._equation import equations, number
from fewvars.report._facts import Facts
from fewvars.report._markup import Markup, column, join, name_of, table, tag

_MOST_TERMS = 60


def function(facts: Facts) -> Markup | None:
    """Return the equation if there is one, the heads that were compared, and plots of the function."""
    if not facts.count:
        return None
    parts = [tag("h2", "The function"), *_equation(facts), _heads(facts)]
    if facts.by_directions:
        parts.append(tag("div", *figures.shadows(facts), figures.loadings(facts), class_="pair"))
    else:
        parts += figures.dependence(facts)
    return tag("section", *parts)


def _equation(facts: Facts) -> list[Markup]:
    head = facts.found.head
    if facts.by_directions:
        texts = [f"z{k}" for k in range(facts.count)]
        names = [join(tag("var", "z"), tag("sub", str(k))) for k in range(facts.count)]
    else:
        texts = facts.head_names
        names = [tag("var", name_of(text, 32)) for text in texts]
    lines, polynomial = head.text(texts, digits=6), head.as_polynomial()
    if lines is None:
        return [
            tag("p", f"The function is {head.describe()}: there is no equation to print. Use predict and gradient.")
        ]
    code = tag("pre", tag("code", "\n".join(lines)))
    if polynomial is None:
        return [code]
    copy = tag("details", tag("summary", "As plain text"), code)
    shown = equations(polynomial, names, facts.found.equation_names(facts.answers))
    n_terms = len(polynomial.exponents)
    if n_terms > _MOST_TERMS:
        summary = f"The polynomial has {n_terms} terms: show them"
        return [tag("details", tag("summary", summary), *shown), copy]
    return [*shown, copy]


def _heads(facts: Facts) -> Markup | None:
    errors, chosen = facts.found.head_errors, facts.found.head.name
    if len(errors) < 2:
        return None
    rows = [
        tag(
            "tr",
            tag("th", head_types()[kind].noun, " (chosen)" if kind == chosen else "", scope="row"),
            tag("td", number(error, 3), class_="number"),
            class_=None if kind == chosen else "quiet",
        )
        for kind, error in sorted(errors.items(), key=lambda item: item[1])
    ]
    caption = "Functions of these variables, compared on held-out blocks. In a tie we choose the simpler one."
    return table(caption, [column("Kind of function"), column("Held-out error", "number")], rows, class_="pair")


def agreement(facts: Facts) -> Markup:
    """Return the comparison of predictions with the data."""
    parts = [tag("h2", "Against the data"), *figures.curves(facts)]
    small = figures.agreement(facts)
    left_out = len(facts.targets) - len(small)
    if not facts.by_directions and getattr(facts.model, "judge_", "network") == "network":  # not in older files
        small.append(figures.network(facts))
    note = tag("p", f"{left_out} more outputs are not drawn.", class_="soft") if left_out > 0 else None
    return tag("section", *parts, tag("div", *small, class_="pair"), note)


def caveats(facts: Facts) -> Markup:
    """Return what a reader should keep in mind."""
    notes = [
        *facts.found.notes,
        *doubts([(facts.names[j], q_value) for j, q_value in facts.found.near_misses], facts.found.stand_ins),
        "The other held-out errors on this page were used to choose the model; errors on new rows are usually larger.",
        "If two variables are equal, the first is selected. If they are strongly correlated, either may be.",
        "The report says what the output depends on in these data. A variable that hardly varies in them cannot be "
        "found, and a variable that predicts the output need not be its cause.",
    ]
    if facts.by_directions:
        notes[-2] = "Only the space that the directions span is determined; other axes would describe it equally well."
    asked = facts.model.get_params()[f"n_{facts.found.kind}"]
    if asked is not None:
        notes.insert(0, f"The number of {facts.found.kind}, {asked}, was given and not found from the data.")
    return tag("section", tag("h2", "How to read this"), tag("ul", *[tag("li", n) for n in notes], class_="notes"))
