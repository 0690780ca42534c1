// Creates a resource group with everything the blog needs. docs/parameters.md describes the parameters.
targetScope = 'subscription'

@description('Name of the azd environment, from which the names of all resources derive.')
@minLength(1)
@maxLength(64)
param environmentName string

// The regions with the Flex Consumption plan, without previews, as in Microsoft's template:
// https://github.com/Azure-Samples/functions-quickstart-python-azd-cosmosdb/blob/main/infra/main.bicep
// westcentralus is left out, because it has no Application Insights
// (https://github.com/Azure-Samples/azure-search-openai-demo/issues/2764). azd asks only for one of them. `az functionapp list-flexconsumption-locations` prints the current list.
@description('Region of all resources. It must offer the Flex Consumption plan, Cosmos DB and Application Insights.')
@allowed([
  'australiaeast'
  'australiasoutheast'
  'brazilsouth'
  'canadacentral'
  'centralindia'
  'centralus'
  'eastasia'
  'eastus'
  'eastus2'
  'francecentral'
  'germanywestcentral'
  'italynorth'
  'japaneast'
  'koreacentral'
  'northcentralus'
  'northeurope'
  'norwayeast'
  'southafricanorth'
  'southcentralus'
  'southeastasia'
  'southindia'
  'spaincentral'
  'swedencentral'
  'uaenorth'
  'uksouth'
  'ukwest'
  'westeurope'
  'westus'
  'westus2'
  'westus3'
])
@metadata({
  azd: {
    type: 'location'
  }
})
param location string

@description('Developer or pipeline that runs manage.py. Gets the app\'s roles for the database and telemetry. Empty: nobody does.')
param principalId string = deployer().objectId

@description('Database of the blog.')
param databaseName string = 'blog'

@description('How comments, likes, renames and the feed are written. See docs/settings.md.')
@allowed(['batch', 'procedure'])
param transactions string = 'batch'

@description('How commands are authenticated. With app-service, people sign in; this needs authClientId.')
@allowed(['app-service', 'function-key'])
param auth string = 'app-service'

@description('Client ID of the app registration, which management/app_registration.py creates. Empty: function-key applies.')
param authClientId string = ''

@description('Client secret of the app registration, if the app cannot use its identity instead. Empty: its identity.')
@secure()
param authClientSecret string = ''

@description('Whether readers can report posts and comments, and moderators can delete them (1).')
@allowed(['0', '1'])
param moderation string = '0'

@description('App role of the people who can delete posts, comments and accounts of others. Empty: nobody can.')
@maxLength(120)
param moderatorRole string = 'Moderator'

@description('Origin of the site behind a proxy or with a domain of its own, such as https://blog.example.com.')
param siteUrl string = ''

@description('Name of the site, its feeds and the API.')
param title string = ''

@description('Line below the name.')
param tagline string = ''

@description('Markdown of the page about the site, or a .md file of the app.')
param about string = ''

@description('Color of links and buttons, such as #b3401c.')
param accent string = ''

@description('Serverless bills each request. Autoscale bills at least a tenth of the maximum throughput.')
@allowed(['serverless', 'autoscale'])
param cosmosCapacity string = 'serverless'

@description('Highest throughput of the database in RU/s, shared by its containers. Applies to autoscale.')
@minValue(1000)
param autoscaleMaxThroughput int = 1000

@description('Whether database, storage and app run in several zones. Only for a new environment.')
param zoneRedundant bool = false

@description('Whether the search is on (1). It needs autoscale. See docs/architecture.md#search.')
@allowed(['0', '1'])
param search string = '0'

@description('Highest throughput of the index of the search in RU/s, besides the throughput of the database.')
@minValue(1000)
param searchMaxThroughput int = 1000

@description('How far back the account can be restored. Seven days are free.')
@allowed(['Continuous7Days', 'Continuous30Days'])
param backupTier string = 'Continuous7Days'

@description('Memory of an instance. CPU is proportional to it.')
@allowed([512, 2048, 4096])
param instanceMemoryMB int = 2048

// Not a limit of the cost: HTTP can exceed it (https://github.com/Azure/azure-functions-host/issues/11790). The least is 1
// since 2026 (https://github.com/hashicorp/terraform-provider-azurerm/issues/31392).
@description('Number of instances at which the platform stops scaling out, for HTTP and for each change-feed function.')
@minValue(1)
@maxValue(1000)
param maximumInstanceCount int = 40

@description('Concurrent HTTP requests per instance. With more, the platform adds instances. app.bicep explains the value.')
@minValue(1)
@maxValue(1000)
param httpConcurrency int = 50

@description('Instances that always run for HTTP. Each bills while idle.')
@minValue(0)
param alwaysReadyHttp int = 0

// Without one, a change feed that sleeps may not wake up: https://github.com/Azure/azure-functions-host/issues/11308
@description('Instances that always run for each of the two change-feed functions. Each bills while idle.')
@minValue(0)
param alwaysReadyChangeFeed int = 1

@description('Python processes per instance. More use more cores, and do not share group commits.')
@minValue(1)
@maxValue(10)
param workerProcessCount int = 1

@description('GB of telemetry per day after which no more is stored until the next day. -1: no limit.')
param dailyLogQuotaGB int = 5

@description('Monthly cost of the resource group, in the currency of the subscription, at 80 percent of which an email is sent to alertEmail. 0: no budget.')
@minValue(0)
param monthlyBudget int = 100

// Azure accepts only the current month for a new budget, and no other month for an existing one
// (https://github.com/Azure/azure-quickstart-templates/issues/7095), so azd stores the output and passes it on.
@description('First day of the month in which the budget was created, such as 2026-12-01. Empty: a new budget starts in this month.')
param budgetStart string = ''

// Only a default can read the clock (https://learn.microsoft.com/azure/azure-resource-manager/bicep/bicep-functions-date#utcnow).
@description('First day of this month. Not to be set.')
param currentMonth string = utcNow('yyyy-MM-01')

@description('Origins of other web sites that can call the API from a browser.')
param corsOrigins array = []

@description('Whether the app reaches the database and storage only through private endpoints.')
param privateNetworking bool = false

// The host accepts these samplers (https://github.com/Azure/azure-functions-host/pull/11568), and the worker these and others.
@description('How the Functions host and the app choose the traces that they record.')
@allowed(['microsoft.rate_limited', 'microsoft.fixed_percentage'])
param tracesSampler string = 'microsoft.rate_limited'

@description('Traces per second and process, or for microsoft.fixed_percentage the share of traces, from 0 to 1. Empty: 1, or 0.1.')
param tracesSamplerArgument string = ''

@description('Receives the alerts. Empty: alerts appear only in the portal.')
param alertEmail string = ''

@description('Whether Azure calls /api/health every 15 minutes from two regions. Each call is billed.')
param availabilityTest bool = true

@description('Tags of the resource group and of all resources in it, such as { "cost-center": "1234" }.')
param resourceTags object = {}

@description('Age of the oldest unhandled change that raises an alert.')
param lagThresholdSeconds int = 300

@description('Share of throttled database requests (429) that raises an alert.')
param throttledThresholdPercent int = 5

var tags = union(resourceTags, {
  'azd-env-name': environmentName
})
// Needs a recipient. It notifies, and stops nothing.
var hasBudget = monthlyBudget > 0 && !empty(alertEmail)
var firstMonth = empty(budgetStart) ? currentMonth : budgetStart
var usesSignIn = auth == 'app-service' && !empty(authClientId)
var suffix = toLower(uniqueString(subscription().id, environmentName, location))
// Names and conditions are known before the deployment. With outputs of other modules in them, `what-if` would skip modules:
// https://learn.microsoft.com/azure/azure-resource-manager/bicep/linter-rule-what-if-short-circuiting
var cosmosName = 'cosmos-${suffix}'
var appName = 'func-${suffix}'
// Autoscale takes multiples of 1,000: https://learn.microsoft.com/azure/cosmos-db/provision-throughput-autoscale
var maxThroughput = autoscaleMaxThroughput % 1000 == 0 ? autoscaleMaxThroughput : fail('COSMOS_AUTOSCALE_MAX_THROUGHPUT must be a multiple of 1000.')
// By default, one trace per second and process, or a tenth of all traces. The SDK's default, five, costs five times as much.
var defaultSamplerArgument = tracesSampler == 'microsoft.fixed_percentage' ? '0.1' : '1'

resource group 'Microsoft.Resources/resourceGroups@2024-03-01' = {
  name: 'rg-${environmentName}'
  location: location
  tags: tags
}

module identity 'identity.bicep' = {
  name: 'identity'
  scope: group
  params: {
    name: 'id-${suffix}'
    location: location
    tags: tags
  }
}

module monitoring 'monitoring.bicep' = {
  name: 'monitoring'
  scope: group
  params: {
    suffix: suffix
    location: location
    tags: tags
    appPrincipalId: identity.outputs.principalId
    developerPrincipalId: principalId
    dailyQuotaGB: dailyLogQuotaGB
  }
}

module storage 'storage.bicep' = {
  name: 'storage'
  scope: group
  params: {
    name: 'st${suffix}'
    location: location
    tags: tags
    appPrincipalId: identity.outputs.principalId
    isPrivate: privateNetworking
    zoneRedundant: zoneRedundant
  }
}

module cosmos 'cosmos.bicep' = {
  name: 'cosmos'
  scope: group
  params: {
    name: cosmosName
    location: location
    tags: tags
    databaseName: databaseName
    capacity: cosmosCapacity
    autoscaleMaxThroughput: maxThroughput
    backupTier: backupTier
    appPrincipalId: identity.outputs.principalId
    developerPrincipalId: principalId
    isPrivate: privateNetworking
    zoneRedundant: zoneRedundant
    workspaceId: monitoring.outputs.workspaceId
    hasSearch: search == '1' && cosmosCapacity == 'autoscale' // BLOG_SEARCH
  }
}

module searchIndex 'search.bicep' = if (search == '1' && cosmosCapacity == 'autoscale') {
  name: 'search'
  scope: group
  params: {
    accountName: cosmosName
    databaseName: databaseName
    maxThroughput: searchMaxThroughput % 1000 == 0 ? searchMaxThroughput : fail('BLOG_SEARCH_MAX_THROUGHPUT must be a multiple of 1000.')
  }
  dependsOn: [
    cosmos
    network // the account accepts one change at a time
  ]
}

module moderationContainer 'moderation.bicep' = if (moderation == '1') {
  name: 'moderation'
  scope: group
  params: {
    accountName: cosmosName
    databaseName: databaseName
  }
  dependsOn: [
    cosmos
    network
    searchIndex // BLOG_SEARCH; the account accepts one change at a time
  ]
}

module network 'network.bicep' = if (privateNetworking) {
  name: 'network'
  scope: group
  params: {
    suffix: suffix
    location: location
    tags: tags
    cosmosId: cosmos.outputs.id
    storageId: storage.outputs.id
  }
}

module app 'app.bicep' = {
  name: 'app'
  scope: group
  params: {
    suffix: suffix
    location: location
    tags: tags
    identityId: identity.outputs.id
    deploymentContainerUrl: storage.outputs.deploymentContainerUrl
    subnetId: privateNetworking ? network!.outputs.appSubnetId : ''
    instanceMemoryMB: instanceMemoryMB
    maximumInstanceCount: maximumInstanceCount
    httpConcurrency: httpConcurrency
    alwaysReadyHttp: alwaysReadyHttp
    alwaysReadyChangeFeed: alwaysReadyChangeFeed
    corsOrigins: corsOrigins
    zoneRedundant: zoneRedundant
    clientSecret: usesSignIn ? authClientSecret : ''
    settings: {
      APPLICATIONINSIGHTS_AUTHENTICATION_STRING: 'Authorization=AAD;ClientId=${identity.outputs.clientId}'
      APPLICATIONINSIGHTS_CONNECTION_STRING: monitoring.outputs.connectionString
      AZURE_CLIENT_ID: identity.outputs.clientId // for the app's DefaultAzureCredential
      AZURE_TOKEN_CREDENTIALS: 'ManagedIdentityCredential' // by default, it tries eight credentials
      AzureWebJobsDisableHomepage: 'true' // the blog has its own page at /
      AzureWebJobsStorage__blobServiceUri: storage.outputs.blobEndpoint
      AzureWebJobsStorage__clientId: identity.outputs.clientId
      AzureWebJobsStorage__credential: 'managedidentity'
      BLOG_AUTH: usesSignIn ? 'app-service' : 'function-key'
      BLOG_DELIVERY_DEADLINE_S: '150'
      BLOG_DATABASE: databaseName
      BLOG_MODERATION: moderation
      BLOG_ABOUT: about
      BLOG_ACCENT: accent
      BLOG_MODERATOR_ROLE: moderatorRole
      BLOG_SEARCH: cosmosCapacity == 'autoscale' ? search : '0' // a serverless account has no global secondary indexes
      BLOG_SITE_URL: siteUrl
      BLOG_TAGLINE: tagline
      BLOG_TITLE: title
      BLOG_TRANSACTIONS: transactions
      COSMOS__accountEndpoint: cosmos.outputs.endpoint
      COSMOS__clientId: identity.outputs.clientId // for the change-feed triggers, with the next one
      COSMOS__credential: 'managedidentity'
      FUNCTIONS_REQUEST_BODY_SIZE_LIMIT: '2097152' // 2 MiB; the host parses every JSON body, also of anonymous requests
      OTEL_SERVICE_NAME: appName // as the Functions host is called in the application map: the name of the app
      OTEL_TRACES_SAMPLER: tracesSampler
      OTEL_TRACES_SAMPLER_ARG: empty(tracesSamplerArgument) ? defaultSamplerArgument : tracesSamplerArgument
      FUNCTIONS_WORKER_PROCESS_COUNT: workerProcessCount > 1 ? string(workerProcessCount) : '' // docs/parameters.md says why 1 is not sent
      WEBSITE_AUTH_AAD_ALLOWED_TENANTS: tenant().tenantId // as in the sample that auth.bicep names
      OVERRIDE_USE_MI_FIC_ASSERTION_CLIENTID: identity.outputs.clientId // instead of a client secret, see auth.bicep
    }
  }
  dependsOn: [
    searchIndex // BLOG_SEARCH needs it
    moderationContainer // BLOG_MODERATION needs it
  ]
}

module authentication 'auth.bicep' = {
  name: 'auth'
  scope: group
  params: {
    appName: appName
    clientId: usesSignIn ? authClientId : ''
    usesIdentity: empty(authClientSecret)
    siteUrl: siteUrl
  }
  dependsOn: [
    app
  ]
}

module alerts 'alerts.bicep' = {
  name: 'alerts'
  scope: group
  params: {
    suffix: suffix
    location: location
    tags: tags
    applicationInsightsId: monitoring.outputs.applicationInsightsId
    workspaceId: monitoring.outputs.workspaceId
    email: alertEmail
    cosmosAccountId: cosmos.outputs.id
    hasThroughput: cosmosCapacity != 'serverless'
    healthUrl: '${app.outputs.url}/api/health'
    hasAvailabilityTest: availabilityTest
    lagThresholdSeconds: lagThresholdSeconds
    throttledThresholdPercent: throttledThresholdPercent
  }
}

module budget 'budget.bicep' = if (hasBudget) {
  name: 'budget'
  scope: group
  params: {
    suffix: suffix
    amount: monthlyBudget
    start: firstMonth
    email: alertEmail
  }
}

// azd stores the outputs in its environment. The hooks, manage.py and the smoke test read them there.
output AZURE_LOCATION string = location
output AZURE_TENANT_ID string = tenant().tenantId
output AZURE_RESOURCE_GROUP string = group.name
output APPLICATIONINSIGHTS_CONNECTION_STRING string = monitoring.outputs.connectionString
output APPLICATIONINSIGHTS_APP_ID string = monitoring.outputs.appId
output AZURE_FUNCTION_NAME string = app.outputs.name
output APP_IDENTITY_PRINCIPAL_ID string = identity.outputs.principalId
// Without a budget, no month: a later budget starts when it is created. A known month stays, because the budget does, too.
output BUDGET_START string = hasBudget ? firstMonth : budgetStart
output BLOG_URL string = app.outputs.url
output BLOG_DATABASE string = databaseName
output BLOG_MODERATION string = moderation
output BLOG_MODERATOR_ROLE string = moderatorRole
output BLOG_SEARCH string = cosmosCapacity == 'autoscale' ? search : '0'
output BLOG_TRANSACTIONS string = transactions
output COSMOS__accountEndpoint string = cosmos.outputs.endpoint
output PRIVATE_NETWORKING bool = privateNetworking
