// Queries to start from, for the containers of a well-known data model.

import {button, element} from "./dom.js";
import {menu} from "./menu.js";

const newestFirst = "ORDER BY c.type DESC, c.creationDate DESC, c.id DESC OFFSET 0 LIMIT 20";
const ofType = (type) => `SELECT * FROM c WHERE c.type = '${type}' ${newestFirst}`;
const some = (property, type) => `SELECT TOP 1 VALUE c.${property} FROM c WHERE c.type = '${type}'`;

// Microsoft's article "How to model and partition data on Azure Cosmos DB using a real-world example" names them Q1 to
// Q6. `key` finds a partition key that has such items, because an example without results teaches little.
const EXAMPLES = {
  "users /userId": [
    ["Q1: a user", "SELECT * FROM c WHERE c.type = 'user'", some("userId", "user")],
    ["Q3: a user's posts, newest first", ofType("post"), some("userId", "post")],
  ],
  "posts /postId": [
    ["Q2: a post", "SELECT * FROM c WHERE c.type = 'post'", some("postId", "post")],
    ["Q4: a post's comments, newest first", ofType("comment"), some("postId", "comment")],
    ["Q5: a post's likes, newest first", ofType("like"), some("postId", "like")],
  ],
  "feed /type": [["Q6: the most recent posts", ofType("post"), some("type", "post")]],
};

/** A menu of the examples for the container; null if there are none. `choose` gets the text and the query of a key. */
export function exampleMenu({id, partitionKey}, choose) {
  const examples = EXAMPLES[`${id} ${partitionKey.paths.join(" ")}`];
  if (!examples) return null;
  const list = element("ol", {}, ...examples.map(([name, query, key]) => {
    const open = () => {
      node.open = false;
      choose(query, key);
    };
    return element("li", {}, button(name, open, {className: "plain"}));
  }));
  const node = menu("Examples", list);
  node.classList.add("history");
  return node;
}
