// The function app, on the Flex Consumption plan.

param suffix string
param location string
param tags object
param identityId string
param deploymentContainerUrl string

@description('Empty: the app is not in a virtual network.')
param subnetId string

param instanceMemoryMB int
param maximumInstanceCount int
param httpConcurrency int
param alwaysReadyHttp int
param alwaysReadyChangeFeed int
param corsOrigins array
param zoneRedundant bool

@description('Client secret of the app registration. Empty: none.')
@secure()
param clientSecret string

@description('App settings; empty ones are left out. Flex Consumption rejects FUNCTIONS_WORKER_RUNTIME.')
param settings object

var listedSettings = [for entry in filter(items(settings), setting => !empty(setting.value)): {
  name: entry.key
  value: entry.value
}]

// HTTP functions share instances. The platform scales each change-feed function on its own.
var alwaysReady = concat(alwaysReadyHttp > 0 ? [
  {
    name: 'http'
    instanceCount: alwaysReadyHttp
  }
] : [], alwaysReadyChangeFeed > 0 ? [
  {
    name: 'function:on_posts_changed'
    instanceCount: alwaysReadyChangeFeed
  }
  {
    name: 'function:on_users_changed'
    instanceCount: alwaysReadyChangeFeed
  }
] : [])

resource plan 'Microsoft.Web/serverfarms@2024-04-01' = {
  // checkov:skip=CKV_AZURE_225: the parameter zoneRedundant makes it so
  name: 'plan-${suffix}'
  location: location
  tags: tags
  kind: 'functionapp'
  sku: {
    name: 'FC1'
    tier: 'FlexConsumption'
  }
  properties: {
    reserved: true
    zoneRedundant: zoneRedundant ? true : null
  }
}

resource app 'Microsoft.Web/sites@2024-04-01' = {
  // checkov:skip=CKV_AZURE_222: a public web site
  // checkov:skip=CKV_AZURE_17: readers have no client certificates
  // checkov:skip=CKV_AZURE_212: the plan scales to zero, and alwaysReadyHttp keeps instances running
  // checkov:skip=CKV_AZURE_78: the plan has no FTP, and rejects the property ftpsState
  // checkov:skip=CKV_AZURE_213: the plan replaces instances itself, and alerts.bicep tests the health
  name: 'func-${suffix}'
  location: location
  tags: union(tags, {
    'azd-service-name': 'api'
  })
  kind: 'functionapp,linux'
  identity: {
    type: 'UserAssigned'
    userAssignedIdentities: {
      '${identityId}': {}
    }
  }
  properties: {
    serverFarmId: plan.id
    httpsOnly: true
    virtualNetworkSubnetId: empty(subnetId) ? null : subnetId
    functionAppConfig: {
      runtime: {
        name: 'python'
        version: '3.13'
      }
      deployment: {
        storage: {
          type: 'blobContainer'
          value: deploymentContainerUrl
          authentication: {
            type: 'UserAssignedIdentity'
            userAssignedIdentityResourceId: identityId
          }
        }
      }
      scaleAndConcurrency: {
        instanceMemoryMB: instanceMemoryMB
        maximumInstanceCount: maximumInstanceCount
        alwaysReady: alwaysReady
        triggers: {
          http: {
            // For Python the platform's default is 1, one instance for each concurrent request, because many Python
            // apps block. This app is asynchronous: a request mostly waits for Cosmos DB. 50 is the concurrency that
            // docs/benchmarks/app-load.md measures: one process answers 1,190 point reads per second, the median in
            // 38 ms. It is limited by its CPU then, so a higher value would raise the latency, not the throughput.
            perInstanceConcurrency: httpConcurrency
          }
        }
      }
    }
    siteConfig: {
      minTlsVersion: '1.2'
      scmMinTlsVersion: '1.2'
      http20Enabled: true
      // A deployment replaces all settings, so a secret that somebody added by hand would be lost.
      appSettings: concat(listedSettings, empty(clientSecret) ? [] : [
        {
          name: 'MICROSOFT_PROVIDER_AUTHENTICATION_SECRET' // auth.bicep names it
          value: clientSecret
        }
      ])
      cors: {
        allowedOrigins: corsOrigins
        supportCredentials: false
      }
    }
  }
}

// Deployments sign in with Entra identities instead of passwords.
resource scmPassword 'Microsoft.Web/sites/basicPublishingCredentialsPolicies@2024-04-01' = {
  parent: app
  name: 'scm'
  // Azure can refuse it without a location, which its type lacks: https://github.com/Azure/bicep-types-az/issues/1571
  #disable-next-line BCP187
  location: location
  properties: {
    allow: false
  }
}

output name string = app.name
output url string = 'https://${app.properties.defaultHostName}'
