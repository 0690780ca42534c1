// The index of the search, a global secondary index. cosmos.bicep enables this feature.

param accountName string
param databaseName string

@description('Highest throughput of the index in RU/s. It does not share that of the database.')
param maxThroughput int

// `manage.py provision` and the app read the same file.
var definition = loadJsonContent('../addons/search/containers.json').containers[0]

resource account 'Microsoft.DocumentDB/databaseAccounts@2024-11-15' existing = {
  name: accountName
}

resource database 'Microsoft.DocumentDB/databaseAccounts/sqlDatabases@2024-11-15' existing = {
  parent: account
  name: databaseName
}

// The version in preview has materializedViewDefinition, a former name of the feature; the stable 2026-03-15 lacks it.
// https://learn.microsoft.com/azure/cosmos-db/how-to-configure-global-secondary-indexes
resource index 'Microsoft.DocumentDB/databaseAccounts/sqlDatabases/containers@2026-04-01-preview' = {
  parent: database
  name: definition.id
  properties: {
    resource: {
      id: definition.id
      partitionKey: definition.partitionKey
      indexingPolicy: definition.indexingPolicy
      fullTextPolicy: definition.fullTextPolicy
      materializedViewDefinition: definition.globalSecondaryIndex
    }
    options: {
      autoscaleSettings: {
        maxThroughput: maxThroughput
      }
    }
  }
}
