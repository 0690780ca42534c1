// Sign-in by App Service authentication with Microsoft Entra ID. Instead of a client secret, the app registration trusts the
// app's identity, whose client ID is in the setting: https://learn.microsoft.com/azure/app-service/configure-authentication-provider-aad#use-a-managed-identity-instead-of-a-secret-preview

param appName string

@description('Client ID of the app registration. Empty: nobody signs in.')
param clientId string

@description('Whether the identity of the app replaces a client secret. If not, app.bicep sets the secret.')
param usesIdentity bool

@description('Origin of the site behind a proxy or with a domain of its own.')
param siteUrl string

// The Azure CLI, which gets tokens for the API.
var azureCli = '04b07795-8ddb-461a-bbee-02f9e1bf7b46'

resource app 'Microsoft.Web/sites@2024-04-01' existing = {
  name: appName
}

resource authentication 'Microsoft.Web/sites/config@2024-04-01' = {
  // checkov:skip=CKV_AZURE_13: a property of the app, which app.bicep creates
  // checkov:skip=CKV_AZURE_63: a property of the app, which app.bicep creates
  // checkov:skip=CKV_AZURE_65: a property of the app, which app.bicep creates
  // checkov:skip=CKV_AZURE_66: a property of the app, which app.bicep creates
  // checkov:skip=CKV_AZURE_80: a property of the app, which app.bicep creates
  // checkov:skip=CKV_AZURE_88: a property of the app, which app.bicep creates
  // checkov:skip=CKV_AZURE_222: a property of the app, which app.bicep creates
  parent: app
  name: 'authsettingsV2'
  properties: {
    platform: {
      enabled: !empty(clientId)
    }
    globalValidation: {
      requireAuthentication: false // queries are public
      unauthenticatedClientAction: 'AllowAnonymous'
    }
    httpSettings: {
      requireHttps: true
      forwardProxy: {
        // The proxy sends the host of the site in X-Forwarded-Host. A client can send another host, also without a proxy, but
        // people return from signing in only to registered ones.
        convention: empty(siteUrl) ? 'NoProxy' : 'Standard'
      }
    }
    login: {
      // The platform refuses a POST of a browser whose origin it does not know.
      allowedExternalRedirectUrls: empty(siteUrl) ? [] : [siteUrl]
      tokenStore: {
        enabled: true // as in Microsoft's sample with an identity: Azure-Samples/mcp-sdk-functions-hosting-python
      }
    }
    identityProviders: empty(clientId) ? {} : {
      azureActiveDirectory: {
        enabled: true
        registration: {
          clientId: clientId
          clientSecretSettingName: usesIdentity ? 'OVERRIDE_USE_MI_FIC_ASSERTION_CLIENTID' : 'MICROSOFT_PROVIDER_AUTHENTICATION_SECRET'
          openIdIssuer: '${environment().authentication.loginEndpoint}${tenant().tenantId}/v2.0'
        }
        validation: {
          allowedAudiences: [clientId] // the audience of version 2 tokens
          defaultAuthorizationPolicy: {
            allowedApplications: [clientId, azureCli]
          }
        }
      }
    }
  }
}
