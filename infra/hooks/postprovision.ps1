# Complete the app registration, and report differences between the database and the repository. azd sets the template's
# outputs as environment variables.
$ErrorActionPreference = 'Stop'
if (-not $env:COSMOS__accountEndpoint) { throw 'Run this with azd: azd hooks run postprovision' }
Set-Location (Join-Path $PSScriptRoot '../..')

$python = '.venv\Scripts\python.exe'
$isSetUp = Test-Path $python
if (-not $isSetUp) { $python = 'py' }
if ($env:AUTH_CLIENT_ID) { & $python -m management.app_registration connect }

if ($env:PRIVATE_NETWORKING -eq 'true') {
    Write-Output 'The database has no public address. To check it, run in its network: python manage.py provision --check'
    exit 0
}
if (-not $isSetUp) {
    Write-Output 'To check the database, run: python -m tasks setup, then azd hooks run postprovision'
    exit 0
}

# A new role assignment can take minutes to apply. Until then, the check fails with 2; differences are 1.
$wait = if ($env:HOOK_WAIT_S) { [int]$env:HOOK_WAIT_S } else { 30 }
for ($attempt = 1; ; $attempt++) {
    & $python manage.py provision --check
    if ($LASTEXITCODE -ne 2 -or $attempt -ge 10) {
        exit $LASTEXITCODE
    }
    Write-Output "The check failed. Trying again in $wait s, because new permissions take some minutes to apply."
    Start-Sleep -Seconds $wait
}
