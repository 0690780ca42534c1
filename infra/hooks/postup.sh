#!/bin/sh
# Print the addresses and a command that creates a user. azd provides the template's outputs as environment variables.
set -eu

cat <<END

The blog:        $BLOG_URL/
API reference:   $BLOG_URL/api/docs
Health:          $BLOG_URL/api/health

END
keys="az functionapp keys list --resource-group $AZURE_RESOURCE_GROUP --name $AZURE_FUNCTION_NAME"
cat <<END
Create a user (commands need a function key, which az reads):

curl -i "$BLOG_URL/api/users" -H "x-functions-key: \$($keys --query functionKeys.default --output tsv)" \\
     -H 'Content-Type: application/json' -d '{"username": "ada"}'
END
