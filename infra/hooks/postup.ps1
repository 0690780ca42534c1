# Print the addresses and a command that creates a user. azd provides the template's outputs as environment variables.
$ErrorActionPreference = 'Stop'

Write-Output @"

The blog:        $env:BLOG_URL/
API reference:   $env:BLOG_URL/api/docs
Health:          $env:BLOG_URL/api/health

"@
$keys = "az functionapp keys list --resource-group $env:AZURE_RESOURCE_GROUP --name $env:AZURE_FUNCTION_NAME"
$header = "'x-functions-key' = `$($keys --query functionKeys.default --output tsv)"
Write-Output @"
Create a user (commands need a function key, which az reads):

Invoke-RestMethod $env:BLOG_URL/api/users -Method Post -Headers @{ $header } ``
    -ContentType 'application/json' -Body '{"username": "ada"}'
"@
