# SPDX-License-Identifier: Apache-2.0
"""Writes the scikit-learn models of docs/tried.md, with samples and labels: NAME.onnx, NAME.npz, NAME.npy. Needs
scikit-learn and skl2onnx."""
import numpy
from skl2onnx import to_onnx
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC


def save(name, model, load):
    x, y = load(return_X_y=True)
    x = x.astype("float32")
    model.fit(x, y)
    with open(name + ".onnx", "wb") as f:
        f.write(to_onnx(model, x[:1]).SerializeToString())
    numpy.savez(name + ".npz", X=x[::3, None])
    if y.dtype.kind == "i":
        numpy.save(name + ".npy", y[::3].astype("int64"))


save("sk_wine_mlp", make_pipeline(StandardScaler(), MLPClassifier((16,), max_iter=800, random_state=1)), load_wine)
save("sk_iris_logistic", LogisticRegression(max_iter=500), load_iris)
save("sk_cancer_logistic", make_pipeline(MinMaxScaler(), LogisticRegression()), load_breast_cancer)
save("sk_diabetes_mlp", make_pipeline(StandardScaler(), MLPRegressor(hidden_layer_sizes=(12,), max_iter=800,
                                                                    random_state=1)), load_diabetes)
save("sk_diabetes_linear", LinearRegression(), load_diabetes)
save("sk_forest", RandomForestClassifier(10), load_iris)
save("sk_svc_rbf", SVC(), load_iris)
