"""The version of this distribution, which setuptools reads without importing the package."""

VERSION = "0.1.0"
