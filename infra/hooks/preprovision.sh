#!/bin/sh
# Create the app registration with which people sign in. azd sets the values of its environment as environment variables.
set -eu
cd "$(dirname "$0")/../.."

python=.venv/bin/python
[ -x "$python" ] || python=python3
exec "$python" -m management.app_registration create
