// The container of the moderation. It shares the throughput of the database.

param accountName string
param databaseName string

module container 'container.bicep' = {
  name: 'container-moderation'
  params: {
    accountName: accountName
    databaseName: databaseName
    // `manage.py provision` and the app read the same file.
    definition: loadJsonContent('../addons/moderation/containers.json').containers[0]
  }
}
