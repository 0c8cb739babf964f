#!/usr/bin/env node
// Starts the executable of the platform package. Standard output belongs to it alone: `josh mcp` speaks a protocol there.
"use strict";
const { spawn } = require("node:child_process");
const { constants } = require("node:os");

const platform = `${process.platform}-${process.arch}`;

function fail(message) {
  process.stderr.write(`josh: ${message}\n`);
  process.exit(1);
}

let executable;
try {
  executable = require.resolve(`@usejosh/josh-${platform}/bin/josh`);
} catch {
  const known = Object.keys(require("./package.json").optionalDependencies);
  if (known.includes(`@usejosh/josh-${platform}`)) {
    fail(`@usejosh/josh-${platform} is missing. Install again without --omit=optional or --no-optional.`);
  }
  fail(`there is no executable for ${platform}. Build Josh from source: ${require("./package.json").homepage}`);
}

const child = spawn(executable, process.argv.slice(2), { stdio: "inherit" });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => child.kill(signal));
}
child.on("error", (error) => fail(`cannot start ${executable}: ${error.message}`));
// As a shell reports it: 128 and the number of the signal.
child.on("exit", (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
