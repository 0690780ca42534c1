// Alerts, the availability test and the workbook. docs/telemetry.md describes the metrics.

param suffix string
param location string
param tags object
param applicationInsightsId string
param workspaceId string

@description('Empty: alerts notify nobody.')
param email string

param healthUrl string
param hasAvailabilityTest bool
param cosmosAccountId string

@description('Whether there is an alert on the throughput of the account. A serverless account has none that could be used up.')
param hasThroughput bool

param lagThresholdSeconds int
param throttledThresholdPercent int

// Each query returns a column `value`, which is compared with the threshold. Sampling drops requests and log lines; the
// remaining ones say in `itemCount` how many they stand for (https://learn.microsoft.com/azure/azure-monitor/app/sampling-classic-api).
var rules = [
  {
    name: 'throttled'
    description: 'Share of database requests that were throttled (429), in percent. Raise the throughput.'
    threshold: throttledThresholdPercent
    query: '''
customMetrics
| where name in ('blog.throttled', 'azure.cosmosdb.client.operation.request_charge')
| extend isThrottled = name == 'blog.throttled'
| summarize throttled = sumif(valueSum, isThrottled), operations = sumif(valueCount, not(isThrottled))
| where throttled >= 10
| project value = 100.0 * throttled / operations // each operation has a charge, even a throttled one
'''
  }
  {
    name: 'lag'
    description: 'Age of the oldest unhandled change of a change feed, in seconds. Lists and usernames are stale.'
    threshold: lagThresholdSeconds
    query: '''
customMetrics
| where name == 'blog.change_feed.lag'
| summarize value = max(valueMax) by source = tostring(customDimensions['blog.function'])
'''
  }
  {
    name: 'standstill'
    description: 'A change-feed function stands still or is late, or nobody has checked it for three hours. Run `manage.py lag`.'
    threshold: 0
    // If something runs `manage.py lag --record`, such as the workflow lag.yml, its last result or its absence decides.
    // Otherwise, the last write of a command is compared with the last delivery. A write costs at least 5 RU, a read or a
    // refused write less. Processes export their metrics once a minute, each in its own second, so either time can be a
    // minute late.
    query: '''
let checks = customMetrics
| where name == 'blog.change_feed.check'
| summarize arg_max(timestamp, valueSum) by source = tostring(customDimensions['blog.function'])
| extend silent = datetime_diff('minute', now(), timestamp)
| project value = iff(silent > 180, silent, tolong(valueSum)), source;
let deliveries = customMetrics
| where timestamp > ago(30m)
| where name in ('azure.cosmosdb.client.operation.request_charge', 'blog.change_feed.lag')
| extend caller = tostring(customDimensions['blog.function']), isDelivery = name == 'blog.change_feed.lag'
| extend isWrite = not(isDelivery) and caller matches regex '^(create|edit|delete)_' and valueMax >= 5
| where isDelivery or isWrite
| extend source = case(isDelivery, caller, caller endswith '_user', 'on_users_changed', 'on_posts_changed')
| summarize written = maxif(timestamp, isWrite and timestamp < ago(10m)), handled = maxif(timestamp, isDelivery) by source
| where isnotnull(written) and (isnull(handled) or handled < written - 2m)
| project value = datetime_diff('minute', now(), written), source;
checks
| union (deliveries | where isempty(toscalar(checks | take 1 | project source)))
'''
  }
  {
    name: 'failures'
    description: 'Changes that a change-feed function could not handle. Run `manage.py failures list`, then `replay`.'
    threshold: 0
    query: '''
customMetrics
| where name == 'blog.change_feed.failures'
| summarize value = sum(valueSum) by source = tostring(customDimensions['blog.function'])
'''
  }
  {
    name: '5xx'
    description: 'Share of HTTP requests that failed with 5xx, in percent.'
    threshold: 1
    query: '''
requests
| extend status = toint(resultCode)
| where status >= 100
| summarize failed = sumif(itemCount, status >= 500), total = sum(itemCount)
| where failed >= 5
| project value = 100.0 * failed / total
'''
  }
  {
    name: 'slow-database'
    description: '99th percentile of the duration of a database call, in ms. A partition is hot, or the database has a problem.'
    threshold: 1000
    // ServerSideLatencyGateway has no percentiles: metrics have an average, a minimum, a maximum, a total and a count
    // (https://learn.microsoft.com/azure/azure-monitor/reference/supported-metrics/microsoft-documentdb-databaseaccounts-metrics).
    query: '''
dependencies
| where type == 'azure.cosmosdb'
| summarize value = percentilew(duration, itemCount, 99), calls = sum(itemCount) by source = name
| where calls >= 100
| project value, source
'''
  }
  {
    name: 'restarts'
    description: 'Starts of the host and exits of the worker on one instance. The app crashes or runs out of memory.'
    threshold: 3
    // Until the first exception, that table does not exist.
    query: '''
union isfuzzy=true
    (traces | where message startswith 'Host started ('),
    (exceptions | where type endswith 'WorkerProcessExitException')
| summarize value = sum(itemCount) by source = cloud_RoleInstance
'''
  }
  {
    name: 'daily-cap'
    description: 'The daily cap of the log is reached. Until it is reset, the other alerts see nothing.'
    threshold: 0
    // https://learn.microsoft.com/azure/azure-monitor/logs/daily-cap#alert-when-daily-cap-is-reached
    query: '''
_LogOperation
| where Detail contains 'OverQuota'
| project value = 1
'''
  }
  {
    name: 'full-partition'
    description: 'Share of the 20 GB of a logical partition that is used, in percent. A full one refuses writes.'
    threshold: 70
    // The largest partition keys from 1 GB on (https://learn.microsoft.com/azure/azure-monitor/reference/tables/cdbpartitionkeystatistics).
    query: '''
CDBPartitionKeyStatistics
| summarize value = max(SizeKb) / (0.01 * 20 * 1024 * 1024) by source = CollectionName
'''
  }
]
// They query tables that Application Insights does not have.
var ofWorkspace = ['daily-cap', 'full-partition']
// At most two days. After that, nobody is told that checks are missing.
var ofTwoDays = ['standstill', 'full-partition']

resource actionGroup 'Microsoft.Insights/actionGroups@2023-01-01' = {
  name: 'ag-${suffix}'
  location: 'global'
  tags: tags
  properties: {
    enabled: true
    groupShortName: 'blog'
    emailReceivers: empty(email) ? [] : [
      {
        name: 'email'
        emailAddress: email
        useCommonAlertSchema: true
      }
    ]
  }
}

resource alerts 'Microsoft.Insights/scheduledQueryRules@2022-06-15' = [for rule in rules: {
  name: 'blog-${rule.name}-${suffix}'
  location: location
  tags: tags
  kind: 'LogAlert'
  properties: {
    displayName: 'Blog: ${rule.name}'
    description: rule.description
    severity: 2
    enabled: true
    autoMitigate: true
    scopes: [
      contains(ofWorkspace, rule.name) ? workspaceId : applicationInsightsId
    ]
    // The window is longer than the interval, because telemetry arrives some minutes late.
    evaluationFrequency: 'PT15M'
    windowSize: 'PT30M'
    overrideQueryTimeRange: contains(ofTwoDays, rule.name) ? 'P2D' : 'PT30M'
    // Before the first telemetry arrives, validation would reject the queries.
    skipQueryValidation: true
    criteria: {
      allOf: [
        {
          query: rule.query
          metricMeasureColumn: 'value'
          timeAggregation: 'Maximum'
          operator: 'GreaterThan'
          threshold: rule.threshold
          failingPeriods: {
            numberOfEvaluationPeriods: 1
            minFailingPeriodsToAlert: 1
          }
        }
      ]
    }
    actions: {
      actionGroups: [
        actionGroup.id
      ]
    }
  }
}]

resource availabilityTest 'Microsoft.Insights/webtests@2022-06-15' = if (hasAvailabilityTest) {
  name: 'health-${suffix}'
  location: location
  tags: union(tags, {
    'hidden-link:${applicationInsightsId}': 'Resource'
  })
  kind: 'standard'
  properties: {
    SyntheticMonitorId: 'health-${suffix}'
    Name: 'Blog health'
    Kind: 'standard'
    Enabled: true
    Frequency: 900
    Timeout: 60
    RetryEnabled: true
    // West Europe and East US. Each location calls once per interval, and each call is billed.
    Locations: [
      {
        Id: 'emea-nl-ams-azr'
      }
      {
        Id: 'us-va-ash-azr'
      }
    ]
    Request: {
      RequestUrl: healthUrl
      HttpVerb: 'GET'
      FollowRedirects: false
      ParseDependentRequests: false
    }
    ValidationRules: {
      ExpectedHttpStatusCode: 200
      SSLCheck: true
      SSLCertRemainingLifetimeCheck: 7
    }
  }
}

resource unavailable 'Microsoft.Insights/metricAlerts@2018-03-01' = if (hasAvailabilityTest) {
  name: 'blog-unavailable-${suffix}'
  location: 'global'
  tags: tags
  properties: {
    description: 'The health check failed in both regions.'
    severity: 1
    enabled: true
    autoMitigate: true
    scopes: [
      availabilityTest.id
      applicationInsightsId
    ]
    evaluationFrequency: 'PT15M'
    windowSize: 'PT30M'
    criteria: {
      'odata.type': 'Microsoft.Azure.Monitor.WebtestLocationAvailabilityCriteria'
      webTestId: availabilityTest.id
      componentId: applicationInsightsId
      failedLocationCount: 2
    }
    actions: [
      {
        actionGroupId: actionGroup.id
      }
    ]
  }
}

resource throughput 'Microsoft.Insights/metricAlerts@2018-03-01' = if (hasThroughput) {
  name: 'blog-throughput-${suffix}'
  location: 'global'
  tags: tags
  properties: {
    description: 'A partition of the database has used more than 90 percent of its throughput on average for half an hour.'
    severity: 3
    enabled: true
    autoMitigate: true
    scopes: [
      cosmosAccountId
    ]
    evaluationFrequency: 'PT15M'
    windowSize: 'PT30M'
    criteria: {
      'odata.type': 'Microsoft.Azure.Monitor.SingleResourceMultipleMetricCriteria'
      allOf: [
        {
          name: 'normalized'
          criterionType: 'StaticThresholdCriterion'
          metricNamespace: 'Microsoft.DocumentDB/databaseAccounts'
          // Each minute has the busiest second of a partition, so `Maximum` would fire after one second at the limit, which is
          // no problem: https://learn.microsoft.com/azure/cosmos-db/monitor-normalized-request-units. Without the dimensions,
          // the average would also count the idle partitions.
          metricName: 'NormalizedRUConsumption'
          dimensions: [
            {
              name: 'CollectionName'
              operator: 'Include'
              values: [
                '*'
              ]
            }
            {
              name: 'PartitionKeyRangeId'
              operator: 'Include'
              values: [
                '*'
              ]
            }
          ]
          operator: 'GreaterThan'
          threshold: 90
          timeAggregation: 'Average'
        }
      ]
    }
    actions: [
      {
        actionGroupId: actionGroup.id
      }
    ]
  }
}

resource workbook 'Microsoft.Insights/workbooks@2022-04-01' = {
  name: guid(applicationInsightsId, 'blog')
  location: location
  tags: tags
  kind: 'shared'
  properties: {
    displayName: 'Blog'
    category: 'workbook'
    sourceId: applicationInsightsId
    serializedData: loadTextContent('workbook.json')
  }
}
