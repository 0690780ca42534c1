// One container of shared/containers.json with its scripts.

param accountName string
param databaseName string

@description('An entry of shared/containers.json.')
param definition object

// loadTextContent accepts only literal paths. tests/infra fails if a script of containers.json is missing here.
var scripts = {
  createComment: loadTextContent('../stored_procedures/createComment.js')
  createLike: loadTextContent('../stored_procedures/createLike.js')
  truncateFeed: loadTextContent('../stored_procedures/truncateFeed.js')
  updateUsernames: loadTextContent('../stored_procedures/updateUsernames.js')
}

resource account 'Microsoft.DocumentDB/databaseAccounts@2024-11-15' existing = {
  name: accountName
}

resource database 'Microsoft.DocumentDB/databaseAccounts/sqlDatabases@2024-11-15' existing = {
  parent: account
  name: databaseName
}

resource container 'Microsoft.DocumentDB/databaseAccounts/sqlDatabases/containers@2024-11-15' = {
  parent: database
  name: definition.id
  properties: {
    resource: {
      id: definition.id
      partitionKey: definition.partitionKey
      defaultTtl: definition.?defaultTtl
      indexingPolicy: definition.?indexingPolicy
    }
  }
}

resource storedProcedures 'Microsoft.DocumentDB/databaseAccounts/sqlDatabases/containers/storedProcedures@2024-11-15' = [for id in definition.storedProcedures: {
  parent: container
  name: id
  properties: {
    resource: {
      id: id
      body: scripts[id]
    }
  }
}]

resource triggers 'Microsoft.DocumentDB/databaseAccounts/sqlDatabases/containers/triggers@2024-11-15' = [for trigger in definition.triggers: {
  parent: container
  name: trigger.id
  properties: {
    resource: {
      id: trigger.id
      body: scripts[trigger.id]
      triggerType: trigger.type
      triggerOperation: trigger.operation
    }
  }
}]
