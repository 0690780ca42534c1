# Print the addresses and a command that creates a user. azd provides the template's outputs as environment variables.
$ErrorActionPreference = 'Stop'

Write-Output @"

The blog:        $env:BLOG_URL/
API reference:   $env:BLOG_URL/api/docs
Health:          $env:BLOG_URL/api/health

"@
if ($env:BLOG_AUTH -ne 'function-key' -and $env:AUTH_CLIENT_ID) {
    Write-Output 'Sign in on the blog, or create your user with a command (az gets your token):'
    $token = "az account get-access-token --resource api://$env:AUTH_CLIENT_ID --query accessToken --output tsv"
    $header = "'Authorization' = `"Bearer `$($token)`""
} else {
    Write-Output 'Create a user (commands need a function key, which az reads):'
    $keys = "az functionapp keys list --resource-group $env:AZURE_RESOURCE_GROUP --name $env:AZURE_FUNCTION_NAME"
    $header = "'x-functions-key' = `$($keys --query functionKeys.default --output tsv)"
}
Write-Output @"

Invoke-RestMethod $env:BLOG_URL/api/users -Method Post -Headers @{ $header } ``
    -ContentType 'application/json' -Body '{"username": "ada"}'
"@
