#!/bin/sh
# Print the addresses and a command that creates a user. azd provides the template's outputs as environment variables.
set -eu

cat <<END

The blog:        $BLOG_URL/
API reference:   $BLOG_URL/api/docs
Health:          $BLOG_URL/api/health

END
if [ "$BLOG_AUTH" = oidc ]; then
    echo 'Create your user, with an access token of the issuer in TOKEN:'
    header="Authorization: Bearer \$TOKEN"
else
    echo 'Create a user (commands need a function key, which az reads):'
    keys="az functionapp keys list --resource-group $AZURE_RESOURCE_GROUP --name $AZURE_FUNCTION_NAME"
    header="x-functions-key: \$($keys --query functionKeys.default --output tsv)"
fi
cat <<END

curl -i "$BLOG_URL/api/users" -H "$header" \\
     -H 'Content-Type: application/json' -d '{"username": "ada"}'
END
