#!/bin/sh
# Complete the app registration, and report differences between the database and the repository. azd sets the template's
# outputs as environment variables.
set -eu
: "${COSMOS__accountEndpoint:?Run this with azd: azd hooks run postprovision}"
cd "$(dirname "$0")/../.."

python=.venv/bin/python
[ -x "$python" ] || python=python3
if [ -n "${AUTH_CLIENT_ID:-}" ]; then
    "$python" -m management.app_registration connect
fi

if [ "${PRIVATE_NETWORKING:-false}" = true ]; then
    echo "The database has no public address. To check it, run in its network: python manage.py provision --check"
    exit 0
fi
if [ "$python" = python3 ]; then
    echo "To check the database, run: make setup, then azd hooks run postprovision"
    exit 0
fi

# A new role assignment can take minutes to apply. Until then, the check fails with 2; differences are 1.
attempt=1
while true; do
    code=0
    "$python" manage.py provision --check || code=$?
    if [ "$code" -ne 2 ] || [ "$attempt" -ge 10 ]; then
        exit "$code"
    fi
    echo "The check failed. Trying again in ${HOOK_WAIT_S:-30} s, because new permissions take some minutes to apply."
    sleep "${HOOK_WAIT_S:-30}"
    attempt=$((attempt + 1))
done
