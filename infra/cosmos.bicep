// Cosmos DB account, database, containers and who can use the data. Keys are disabled.

param name string
param location string
param tags object
param databaseName string
param capacity string
param autoscaleMaxThroughput int
param backupTier string
param appPrincipalId string
param developerPrincipalId string
param isPrivate bool
param zoneRedundant bool
param workspaceId string

@description('Whether the account can have global secondary indexes. It keeps this feature for good.')
param hasSearch bool = false

// `manage.py provision` and the app read the same file.
var containers = loadJsonContent('../shared/containers.json').containers

// Only previews have enableMaterializedViews, the former name of global secondary indexes
// (https://learn.microsoft.com/azure/cosmos-db/how-to-configure-global-secondary-indexes), and later ones call required
// properties read-only (warning BCP073).
resource account 'Microsoft.DocumentDB/databaseAccounts@2024-12-01-preview' = {
  // checkov:skip=CKV_AZURE_101: the parameter privateNetworking disables public access, and keys are disabled anyway
  name: name
  location: location
  tags: tags
  kind: 'GlobalDocumentDB'
  properties: {
    databaseAccountOfferType: 'Standard'
    // The mode and the capability mean the same; this version has both. 'Provisioned' could change a serverless account for good
    // (https://learn.microsoft.com/azure/cosmos-db/how-to-change-capacity-mode), so it is not sent.
    capacityMode: capacity == 'serverless' ? 'Serverless' : null
    capabilities: capacity == 'serverless' ? [
      {
        name: 'EnableServerless'
      }
    ] : []
    // The blog's counts and reservations need a single write region: docs/architecture.md.
    enableMultipleWriteLocations: false
    locations: [
      {
        locationName: location
        failoverPriority: 0
        isZoneRedundant: zoneRedundant
      }
    ]
    // A user reads their own writes. Weaker levels break this, stronger ones cost more.
    consistencyPolicy: {
      defaultConsistencyLevel: 'Session'
    }
    backupPolicy: {
      type: 'Continuous'
      continuousModeProperties: {
        tier: backupTier
      }
    }
    // Free. Partitions below 3,000 RU/s save what they do not use for up to five minutes; serverless has none to save.
    // https://learn.microsoft.com/azure/cosmos-db/burst-capacity
    enableBurstCapacity: capacity == 'autoscale'
    enableMaterializedViews: hasSearch ? true : null
    disableLocalAuth: true
    disableKeyBasedMetadataWriteAccess: true
    minimalTlsVersion: 'Tls12'
    publicNetworkAccess: isPrivate ? 'Disabled' : 'Enabled'
  }
}

// A few lines a day; logs of requests would cost more than the requests.
resource diagnostics 'Microsoft.Insights/diagnosticSettings@2021-05-01-preview' = {
  name: 'partitions'
  scope: account
  properties: {
    workspaceId: workspaceId
    logAnalyticsDestinationType: 'Dedicated' // tables such as CDBPartitionKeyStatistics, which alerts.bicep queries
    logs: [
      {
        category: 'PartitionKeyStatistics'
        enabled: true
      }
      {
        category: 'ControlPlaneRequests'
        enabled: true
      }
    ]
  }
}

resource database 'Microsoft.DocumentDB/databaseAccounts/sqlDatabases@2024-11-15' = {
  parent: account
  name: databaseName
  properties: {
    resource: {
      id: databaseName
    }
    options: capacity == 'autoscale' ? {
      autoscaleSettings: {
        maxThroughput: autoscaleMaxThroughput
      }
    } : {}
  }
}

// The account accepts one change at a time: containers that share throughput must not be created concurrently
// (https://github.com/MicrosoftDocs/azure-docs/issues/47481), and a role is assigned under an exclusive lock
// (https://github.com/hashicorp/terraform-provider-azurerm/issues/15842).
@batchSize(1)
module container 'container.bicep' = [for definition in containers: {
  name: 'container-${definition.id}'
  params: {
    accountName: account.name
    databaseName: database.name
    definition: definition
  }
}]

// https://learn.microsoft.com/azure/cosmos-db/reference-data-plane-security#built-in-roles
resource dataContributor 'Microsoft.DocumentDB/databaseAccounts/sqlRoleDefinitions@2024-11-15' existing = {
  parent: account
  name: '00000000-0000-0000-0000-000000000002' // Cosmos DB Built-in Data Contributor
}

// The database is the narrowest scope: the change-feed triggers read its metadata, not only the containers'
// (https://github.com/Azure/azure-cosmos-dotnet-v3/issues/3638).
resource appHasDataRole 'Microsoft.DocumentDB/databaseAccounts/sqlRoleAssignments@2024-11-15' = {
  parent: account
  name: guid(account.id, appPrincipalId, dataContributor.id)
  properties: {
    principalId: appPrincipalId
    roleDefinitionId: dataContributor.id
    scope: '${account.id}/dbs/${database.name}'
  }
  dependsOn: [
    container
  ]
}

resource developerHasDataRole 'Microsoft.DocumentDB/databaseAccounts/sqlRoleAssignments@2024-11-15' = if (!empty(developerPrincipalId)) {
  parent: account
  name: guid(account.id, developerPrincipalId, dataContributor.id)
  properties: {
    principalId: developerPrincipalId
    roleDefinitionId: dataContributor.id
    scope: '${account.id}/dbs/${database.name}'
  }
  dependsOn: [
    appHasDataRole
  ]
}

output id string = account.id
output name string = account.name
output endpoint string = account.properties.documentEndpoint
