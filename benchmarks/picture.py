"""Draw the picture in the README: the path, the importances and the learned curve of one fit.

.venv/bin/python -m benchmarks.picture
"""

from pathlib import Path

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt

import fewvars as fv
from fewvars.problems.datasets import lorenz96_dataset
from fewvars.problems.targets import lorenz_equation

TARGET = Path(__file__).parent.parent / "docs" / "_static" / "picture.svg"


def main() -> None:
    """Fit equation 25 of Lorenz-96 at 2% noise, and draw."""
    matplotlib.rcParams["svg.hashsalt"] = "fewvars"
    data = lorenz96_dataset(lorenz_equation(25), noise_x=0.02, noise_y=0.02, seed=0)
    model = fv.FewVariablesRegressor(random_state=0).fit(data.X_train, data.y_train, t=data.t_train)
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(13, 3.6), width_ratios=(4, 3, 5), layout="constrained")
    names = list(data.names)
    fv.displays.PathDisplay.from_estimator(model, feature_names=names, ax=left)
    fv.displays.ImportanceDisplay.from_estimator(model, feature_names=names, ax=middle)
    few = slice(0, 500)
    right.plot(data.t_test[few], data.y_test[few], color="0.6", linewidth=4, label="truth, not seen")
    right.plot(data.t_test[few], model.predict(data.X_test[few]), color="#0072B2", linewidth=1.2, label="learned")
    right.set(xlabel="time", ylabel="dx25/dt")
    right.legend(loc="upper right")
    figure.savefig(TARGET, metadata={"Date": None})
    print(f"{TARGET.name}: {', '.join(names[j] for j in model.get_support(indices=True))}")


if __name__ == "__main__":
    main()
