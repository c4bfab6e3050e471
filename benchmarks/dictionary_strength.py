"""What the l1 dictionary finds at fixed strengths, on the first data set of each of the paper's experiments.

The paper does not say how the strength of its dictionary was chosen. `python -m benchmarks.dictionary_strength` prints
sensitivity, specificity and relative error for strengths over three decades, above those of the paper (a few minutes).
"""

import argparse
import warnings
from pathlib import Path

from sklearn.exceptions import ConvergenceWarning

from benchmarks.rows import judged, table
from fewvars.study import EXPERIMENTS, Setting
from fewvars.study.experiments import DICTIONARY_L1

STRENGTHS = (0.3, 0.2, 0.15, 0.1, 0.05, 0.02, 0.01, 3e-3, 1e-3, 3e-4, 1e-4)
SETTINGS = {setting.name: setting for experiment in EXPERIMENTS for setting in experiment.settings}
CHOSEN = ("noise 0.02", "noise 0.04", "noise 0.05", "setting 1", "setting 2", "setting 3")


def cell(setting: Setting, strength: float) -> str:
    """Return sensitivity, specificity and relative error on replicate 0."""
    data = setting.data(0)
    model = DICTIONARY_L1.build().set_params(strength=strength)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the weakest strengths
        model.fit(data.X_train, data.y_train)
    found = judged(data.support, model.support_, data.y_test, model.predict(data.X_test))
    return f"{found['sensitivity']:.2g}, {found['specificity']:.2f}, {found['error']:.2g}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="write the table to this file too")
    options = parser.parse_args()
    paper = {
        said.setting: ", ".join(
            value.split(" ")[0] or "-" for value in (said.sensitivity, said.specificity, said.relative_error)
        )
        for experiment in EXPERIMENTS
        for said in experiment.reported
        if said.method == DICTIONARY_L1.name
    }
    lines = [(f"{strength:g}", *(cell(SETTINGS[name], strength) for name in CHOSEN)) for strength in STRENGTHS]
    lines.append(("paper", *(paper[name] for name in CHOSEN)))
    text = table(("strength", *CHOSEN), lines)
    print(text)
    if options.out:
        options.out.write_text(text + "\n")


if __name__ == "__main__":
    main()
