// The kinds of scripts: their path, their feed, and their names.

export const KINDS = {
  sprocs: {feed: "StoredProcedures", title: "Stored procedures", one: "stored procedure"},
  triggers: {feed: "Triggers", title: "Triggers", one: "trigger"},
  udfs: {feed: "UserDefinedFunctions", title: "User-defined functions", one: "user-defined function"},
};
