// Optional: a virtual network in which the app reaches the database and storage through private endpoints.

param suffix string
param location string
param tags object
param cosmosId string
param storageId string

var endpoints = [
  {
    name: 'cosmos'
    targetId: cosmosId
    groupId: 'Sql'
    zone: 'privatelink.documents.azure.com'
  }
  {
    name: 'blob'
    targetId: storageId
    groupId: 'blob'
    zone: 'privatelink.blob.${environment().suffixes.storage}'
  }
]

resource network 'Microsoft.Network/virtualNetworks@2024-05-01' = {
  name: 'vnet-${suffix}'
  location: location
  tags: tags
  properties: {
    addressSpace: {
      addressPrefixes: [
        '10.0.0.0/24'
      ]
    }
    subnets: [
      {
        // Flex Consumption requires this delegation, and uses one address for about 40 instances.
        name: 'app'
        properties: {
          addressPrefix: '10.0.0.0/26'
          delegations: [
            {
              name: 'functions'
              properties: {
                serviceName: 'Microsoft.App/environments'
              }
            }
          ]
        }
      }
      {
        name: 'endpoints'
        properties: {
          addressPrefix: '10.0.0.64/27'
        }
      }
    ]
  }
}

// One at a time: creating an endpoint can fail while another one updates the subnet
// (https://github.com/Azure/bicep-ptn-aiml-landing-zone/issues/41).
@batchSize(1)
module endpoint 'private-endpoint.bicep' = [for entry in endpoints: {
  name: 'endpoint-${entry.name}'
  params: {
    name: 'pep-${entry.name}-${suffix}'
    location: location
    tags: tags
    networkId: network.id
    subnetId: network.properties.subnets[1].id
    targetId: entry.targetId
    groupId: entry.groupId
    zoneName: entry.zone
  }
}]

output appSubnetId string = network.properties.subnets[0].id
