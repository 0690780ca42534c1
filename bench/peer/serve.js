// Serves @vercel/cosmosdb-server on a free port and prints its address: `node serve.js fastest|shipped`.
//
// "shipped" is what its command line starts: HTTPS, and one connection per request. "fastest" is its best mode: HTTP
// with keep-alive, as this project's emulator.
const { createHttpServer, createHttpsServer } = require("@vercel/cosmosdb-server");

const shipped = process.argv[2] === "shipped";
const server = shipped ? createHttpsServer() : createHttpServer({ keepAlive: true });
server.listen(0, "127.0.0.1", () => {
  const scheme = shipped ? "https" : "http";
  console.log(`ready at ${scheme}://127.0.0.1:${server.address().port}/`);
});
