import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { remedy, serverCommand, serverSettings } from "../src/settings";

test("the command of the settings goes first", () => {
  assert.deepEqual(serverCommand(["/v/bin/jaxlint"], ["/usr/bin/python"]), { command: "/v/bin/jaxlint", args: ["server"] });
  assert.deepEqual(serverCommand(["uv", "run", "jaxlint"], undefined), { command: "uv", args: ["run", "jaxlint", "server"] });
});

test("then the interpreter of the Python extension, then the path", () => {
  assert.deepEqual(serverCommand([], ["/v/bin/python"]), { command: "/v/bin/python", args: ["-m", "flake8_jax", "server"] });
  assert.deepEqual(serverCommand([""], undefined), { command: "jaxlint", args: ["server"] });
});

test("what is not set is left to the project", () => {
  const values: Record<string, unknown> = { select: null, ignore: ["JAX304"], debounce: 0, inlayHints: false, command: ["x"] };
  assert.deepEqual(serverSettings((key) => values[key]), { ignore: ["JAX304"], debounce: 0, inlayHints: false });
});

test("the remedy names the environment", () => {
  assert.match(remedy({ command: "/v/bin/python", args: ["-m", "flake8_jax", "server"] }, "x"), /\/v\/bin\/python -m pip install/);
  assert.match(remedy({ command: "jaxlint", args: ["server"] }, "ENOENT"), /ENOENT.*"jaxlint\.command"/);
});

test("every forwarded setting can be set", () => {
  const manifest = JSON.parse(readFileSync("package.json", "utf8"));
  const known = Object.keys(manifest.contributes.configuration.properties);
  const sent = Object.keys(serverSettings(() => "x"));
  assert.deepEqual(sent.filter((key) => !known.includes(`jaxlint.${key}`)), []);
});

test("the command that the interpreter is given exists", { skip: process.env.JAXLINT_PYTHON === undefined }, () => {
  const { command, args } = serverCommand([], [process.env.JAXLINT_PYTHON ?? ""]);
  const done = spawnSync(command, [...args, "--help"], { encoding: "utf8" });
  assert.equal(done.status, 0, done.stderr);
  assert.match(done.stdout, /language server/i);
});
