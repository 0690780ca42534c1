// Split SQL, JSON and JavaScript into tokens for coloring. A wrong color is harmless, so this does not parse.

import {element} from "./dom.js";

const LONGEST = 200_000; // beyond it, text stays plain: coloring would delay typing
const SQL_WORDS =
  "SELECT VALUE DISTINCT TOP FROM JOIN IN WHERE AND OR NOT BETWEEN LIKE ESCAPE EXISTS ARRAY GROUP ORDER BY RANK ASC DESC OFFSET LIMIT AS UDF";
const JS_WORDS =
  "function return var let const if else for while do switch case break continue throw try catch finally new typeof instanceof in of this delete void class extends yield async await default";

const words = (list, flags = "") => new RegExp(`(?:${list.split(" ").join("|")})(?![\\w$])`, `y${flags}`);
const STRING = /"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?/y;
const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const LITERAL = /(?:true|false|null|undefined)(?![\w$])/y;
const NAME = /[A-Za-z_$][\w$]*/y;

const GRAMMARS = {
  json: [["name", /"(?:\\.|[^"\\\n])*"(?=\s*:)/y], ["string", STRING], ["number", NUMBER], ["literal", LITERAL]],
  sql: [
    ["comment", /--[^\n]*|\/\*[^]*?(?:\*\/|$)/y],
    ["string", STRING],
    ["parameter", /@\w+/y],
    ["keyword", words(SQL_WORDS, "i")],
    ["literal", LITERAL],
    ["call", /[A-Za-z_]\w*(?=\s*\()/y],
    ["", NAME],
    ["number", NUMBER],
  ],
  javascript: [
    ["comment", /\/\/[^\n]*|\/\*[^]*?(?:\*\/|$)/y],
    ["string", /`(?:\\.|[^`\\])*`?/y],
    ["string", STRING],
    ["keyword", words(JS_WORDS)],
    ["literal", LITERAL],
    ["call", /[A-Za-z_$][\w$]*(?=\s*\()/y],
    ["", NAME],
    ["number", NUMBER],
  ],
};

/** Return nodes with the text, in which tokens have a class. */
export function highlighted(text, language) {
  if (text.length > LONGEST) return [text];
  const nodes = [];
  let plain = "";
  for (let at = 0; at < text.length; ) {
    const [kind, token] = tokenAt(text, at, GRAMMARS[language]);
    at += token.length;
    if (!kind) plain += token;
    else {
      if (plain) nodes.push(plain);
      plain = "";
      nodes.push(element("span", {className: `token-${kind}`}, token));
    }
  }
  return plain ? [...nodes, plain] : nodes;
}

function tokenAt(text, at, grammar) {
  for (const [kind, pattern] of grammar) {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match?.[0]) return [kind, match[0]];
  }
  return ["", text[at]];
}
