// The kinds of scripts: their path, their feed, their names, and the code of a new one.

const HELLO = `function hello(name) {
  console.log("called with", name);
  getContext().getResponse().setBody({greeting: "Hello " + name});
}
`;
const SET_CREATED = `function setCreated() {
  const request = getContext().getRequest();
  const item = request.getBody();
  item.created = new Date().toISOString();
  request.setBody(item);
}
`;
const WITH_TAX = `function withTax(total, percent) {
  return Math.round(total * (100 + percent)) / 100;
}
`;

export const KINDS = {
  sprocs: {feed: "StoredProcedures", title: "Stored procedures", one: "stored procedure", code: HELLO},
  triggers: {feed: "Triggers", title: "Triggers", one: "trigger", code: SET_CREATED},
  udfs: {feed: "UserDefinedFunctions", title: "User-defined functions", one: "user-defined function", code: WITH_TAX},
};
