// Asks questions.json of a server over stdio with an official TypeScript client:
//
//   client.mjs FOLDER MAJOR COMMAND ARGUMENTS…
//
// FOLDER has node_modules, MAJOR is 1 or 2. The client checks each result against the tool's output schema and throws
// where it does not fit.
import assert from "node:assert";
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";

const [folder, major, command, ...args] = process.argv.slice(2);
const require = createRequire(path.join(folder, "package.json"));
const load = (name) => import(pathToFileURL(require.resolve(name)));
const [client, stdio] = major === "1"
  ? ["@modelcontextprotocol/sdk/client/index.js", "@modelcontextprotocol/sdk/client/stdio.js"]
  : ["@modelcontextprotocol/client", "@modelcontextprotocol/client/stdio"];
const { Client } = await load(client);
const { StdioClientTransport } = await load(stdio);

const questions = JSON.parse(fs.readFileSync(new URL("questions.json", import.meta.url), "utf8"));
const session = new Client({ name: "josh-tests", version: "1" });
await session.connect(new StdioClientTransport({ command, args, env: process.env }));
// Listing also makes the client keep the output schemas.
const { tools } = await session.listTools();
for (const question of questions) {
  assert(tools.some((tool) => tool.name === question.tool), `no tool ${question.tool}`);
  const result = await session.callTool({ name: question.tool, arguments: question.arguments });
  assert.equal(result.isError === true, question.error, JSON.stringify([question, result]));
  const text = JSON.parse(result.content[0].text);
  assert.deepEqual(result.structuredContent, text);
  assert.equal("error_type" in text, question.error, JSON.stringify([question, result]));
}
await session.close();
console.log(`ok      TypeScript ${major}.x: ${questions.length} calls`);
