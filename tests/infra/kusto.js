// Reads tables and queries from standard input, and prints the errors of each query, with Microsoft's language service.
require("@kusto/language-service-next/bridge.min.js");
require("@kusto/language-service-next/Kusto.Language.Bridge.min.js");

const { GlobalState, KustoCode, Symbols } = Kusto.Language;
const { tables, queries } = JSON.parse(require("node:fs").readFileSync(0, "utf8"));

const symbols = Object.entries(tables).map(([name, columns]) => new Symbols.TableSymbol.$ctor7(name, `(${columns})`, null));
const globals = GlobalState.Default.WithDatabase(new Symbols.DatabaseSymbol.$ctor1("logs", symbols));

function errors(query) {
  const found = KustoCode.ParseAndAnalyze(query, globals).GetDiagnostics();
  return Array.from({ length: found.Count }, (_, index) => found.getItem(index))
    .filter((one) => one.Severity === "Error")
    .map((one) => one.Message);
}

const answers = Object.entries(queries).map(([name, query]) => [name, errors(query)]);
process.stdout.write(JSON.stringify(Object.fromEntries(answers)));
