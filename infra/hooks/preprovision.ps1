# Create the app registration with which people sign in. azd sets the values of its environment as environment variables.
$ErrorActionPreference = 'Stop'
Set-Location (Join-Path $PSScriptRoot '../..')

$python = '.venv\Scripts\python.exe'
if (-not (Test-Path $python)) { $python = 'py' }
& $python -m management.app_registration create
exit $LASTEXITCODE
