// Serves @vercel/cosmosdb-server on a free port and prints its address: `node serve.js fastest|shipped`.
//
// "shipped" is what its command line starts: HTTPS, and every answer closes its connection. "fastest" is the best it
// can do: plain HTTP over connections that stay open, as this project's emulator serves.
const { createHttpServer, createHttpsServer } = require("@vercel/cosmosdb-server");

const shipped = process.argv[2] === "shipped";
const server = shipped ? createHttpsServer() : createHttpServer({ keepAlive: true });
server.listen(0, "127.0.0.1", () => {
  const scheme = shipped ? "https" : "http";
  console.log(`ready at ${scheme}://127.0.0.1:${server.address().port}/`);
});
