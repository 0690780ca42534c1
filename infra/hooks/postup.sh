#!/bin/sh
# Print the addresses and a command that creates a user. azd provides the template's outputs as environment variables.
set -eu

cat <<END

The blog:        $BLOG_URL/
API reference:   $BLOG_URL/api/docs
Health:          $BLOG_URL/api/health

END
if [ "${BLOG_AUTH:-}" != function-key ] && [ -n "${AUTH_CLIENT_ID:-}" ]; then
    echo "Sign in on the blog, or create your user with a command (az gets your token):"
    header="Authorization: Bearer \$(az account get-access-token --resource api://$AUTH_CLIENT_ID --query accessToken --output tsv)"
else
    keys="az functionapp keys list --resource-group $AZURE_RESOURCE_GROUP --name $AZURE_FUNCTION_NAME"
    echo "Create a user (commands need a function key, which az reads):"
    header="x-functions-key: \$($keys --query functionKeys.default --output tsv)"
fi
cat <<END

curl -i "$BLOG_URL/api/users" -H "$header" \\
     -H 'Content-Type: application/json' -d '{"username": "ada"}'
END
