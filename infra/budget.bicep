// A budget of the resource group. It sends emails, and stops nothing.

param suffix string
param amount int
param email string

param start string

resource budget 'Microsoft.Consumption/budgets@2023-11-01' = {
  name: 'budget-${suffix}'
  properties: {
    category: 'Cost'
    amount: amount
    timeGrain: 'Monthly'
    timePeriod: {
      startDate: start
    }
    notifications: {
      actual: {
        enabled: true
        operator: 'GreaterThan'
        threshold: 80
        thresholdType: 'Actual'
        contactEmails: [
          email
        ]
      }
      forecast: {
        enabled: true
        operator: 'GreaterThan'
        threshold: 100
        thresholdType: 'Forecasted'
        contactEmails: [
          email
        ]
      }
    }
  }
}
