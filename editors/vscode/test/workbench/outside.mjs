// Tries the packaged extension in a real VS Code: code-server has its server and its workbench, Chromium shows that.
// First as a user would, by keyboard and by what can be seen; then inside.test.ts in the extension host. See README.md.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { createInterface } from "node:readline";

import { chromium } from "playwright-core";

const PATIENCE = 30_000;
const MINUTES = 5;

/** The first of these commands that is there; `variable` of the environment goes before them. */
function tool(variable, ...names) {
  const given = process.env[variable];
  const places = (process.env.PATH ?? "").split(delimiter);
  const found = given ?? names.flatMap((name) => places.map((place) => join(place, name))).find((path) => existsSync(path));
  assert(found, `none of ${names.join(", ")} is on the path, and ${variable} does not say where one is`);
  return found;
}

const codeServer = tool("CODE_SERVER", "code-server");
const browserPath = tool("CHROMIUM", "chromium", "chromium-browser", "google-chrome");
const python = tool("JAXLINT_PYTHON", "python3", "python");
const { version } = JSON.parse(readFileSync("package.json", "utf8"));
const packaged = resolve(`jaxlint-${version}.vsix`);

const PROGRAM = ["import jax", "import numpy as np", "", "", "@jax.jit", "def f(x):", "    return np.sin(x)", ""];
const cells = [PROGRAM.slice(0, 2), PROGRAM.slice(4, 7)];
const NOTEBOOK = {
  cells: cells.map((lines, index) => ({
    cell_type: "code", execution_count: null, id: `cell${index}`, metadata: {}, outputs: [], source: lines.join("\n"),
  })),
  metadata: { kernelspec: { display_name: "Python 3", language: "python", name: "python3" }, language_info: { name: "python" } },
  nbformat: 4,
  nbformat_minor: 5,
};
// What of the Python extension's interface is used; the extension itself is not in any registry of npm or Debian.
const STAND_IN = `
const vscode = require("vscode");
const changed = new vscode.EventEmitter();
let path = ${JSON.stringify(python)};
exports.activate = () => {
  vscode.commands.registerCommand("standIn.choose", (next) => { path = next; changed.fire({ id: next, path: next }); });
  return { environments: {
    getActiveEnvironmentPath: () => ({ id: path, path }),
    resolveEnvironment: async (given) => ({ executable: { uri: vscode.Uri.file(given.path) } }),
    onDidChangeActiveEnvironmentPath: changed.event,
  } };
};
`;

const scratch = mkdtempSync(join(tmpdir(), "jaxlint-vscode-"));
const shots = process.env.JAXLINT_SCREENSHOTS;

function project(name) {
  const root = join(scratch, name);
  mkdirSync(join(root, ".vscode"), { recursive: true });
  for (const file of ["a.py", "b.py", "c.py"]) {
    writeFileSync(join(root, file), PROGRAM.join("\n"));
  }
  writeFileSync(join(root, "n.ipynb"), JSON.stringify(NOTEBOOK));
  writeFileSync(join(root, ".vscode", "settings.json"), JSON.stringify({ "jaxlint.command": [python, "-m", "flake8_jax"] }));
  return root;
}

function standIn() {
  const root = join(scratch, "stand-in");
  mkdirSync(root);
  const manifest = { name: "python", publisher: "ms-python", version: "0.0.1", engines: { vscode: "^1.82.0" }, main: "./main.js" };
  writeFileSync(join(root, "package.json"), JSON.stringify({ ...manifest, activationEvents: [] }));
  writeFileSync(join(root, "main.js"), STAND_IN);
  return root;
}

const options = [
  "--config", join(scratch, "config.yaml"),
  "--user-data-dir", join(scratch, "data"),
  "--extensions-dir", join(scratch, "extensions"),
];

/** Starts code-server on a port that is free; its process, and its address. */
async function serve() {
  const settings = join(scratch, "data", "User");
  mkdirSync(settings, { recursive: true });
  writeFileSync(join(settings, "settings.json"), JSON.stringify({ "workbench.startupEditor": "none" }));
  writeFileSync(join(scratch, "config.yaml"), "bind-addr: 127.0.0.1:0\nauth: none\ncert: false\n");
  const env = { ...process.env, XDG_DATA_HOME: scratch }; // it writes logs there
  for (const first of [["--install-extension", packaged], ["--version"]]) {
    console.log(execFileSync(codeServer, [...options, ...first], { encoding: "utf8", env }).trim());
  }
  const flags = ["--disable-telemetry", "--disable-update-check", "--disable-workspace-trust"];
  const child = spawn(codeServer, [...options, ...flags], { env, detached: true, stdio: ["ignore", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout });
  const address = await new Promise((found, failed) => {
    child.once("error", failed);
    child.once("exit", (code) => failed(new Error(`code-server ended with ${code}`)));
    lines.on("line", (line) => {
      const match = /listening on (http:\/\/\S+?)\/?$/.exec(line);
      if (match !== null) {
        found(match[1]);
      }
    });
  });
  return { child, address };
}

/** Ends code-server and what it has started, which would wait for its window to come back. */
async function end(child) {
  const ended = new Promise((done) => child.once("exit", done));
  if (child.exitCode === null && child.signalCode === null) {
    child.kill();
    await ended;
  }
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch (error) {
    assert.equal(error.code, "ESRCH"); // all of it has ended
  }
}

async function open(browser, address, folder) {
  const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
  page.setDefaultTimeout(PATIENCE);
  return { page, go: () => page.goto(`${address}/?folder=${encodeURIComponent(folder)}`) };
}

async function picture(page, name) {
  if (shots !== undefined) {
    await page.screenshot({ path: join(shots, `${name}.png`) });
  }
}

/** Chooses from the palette: a file, or after ">" a command. */
async function choose(page, text) {
  const input = page.locator(".quick-input-widget input[type=text]");
  await page.keyboard.press("F1");
  await input.waitFor();
  await input.fill(text);
  await page.locator(".quick-input-list .monaco-list-row").filter({ hasText: text.replace(/^>/, "") }).first().click();
  await input.waitFor({ state: "hidden" });
}

/** What a user sees; whether that was all as it should be. */
async function outside(browser, address) {
  const { page, go } = await open(browser, address, project("seen"));
  try {
    await go();
    await look(page);
    console.log("ok: what a user sees");
    return true;
  } catch (error) {
    await picture(page, "failed");
    console.log(`not ok: what a user sees: ${error.stack}`);
    return false;
  } finally {
    await page.close();
  }
}

/** A finding in the editor and in the list, the command that fixes it, a finding in a notebook. */
async function look(page) {
  await page.locator(".explorer-folders-view .monaco-list-row", { hasText: "a.py" }).dblclick();
  await page.locator(".squiggly-error").waitFor();
  await page.getByText("traced by jax.jit at a.py:5").waitFor();
  const text = page.locator(".editor-instance .view-lines");
  const says = (part) => text.filter({ hasText: part.replaceAll(" ", "\u00a0") }).waitFor();
  await says("def f(x: traced):"); // with the inlay hint
  await choose(page, ">View: Toggle Problems");
  const problems = page.locator(".markers-panel .monaco-list-row");
  await problems.filter({ hasText: "np.sin() converts" }).first().waitFor();
  await problems.filter({ hasText: "n.ipynb" }).waitFor();
  await picture(page, "finding");
  await page.locator(".squiggly-error").hover({ force: true }); // the text lies over it
  await page.locator(".monaco-hover", { hasText: "JAX203" }).waitFor();
  await text.click();
  await choose(page, ">jaxlint: Fix everything that is safe");
  await says("return jnp.sin(x)");
  await page.locator(".squiggly-error").waitFor({ state: "detached" });
  await picture(page, "fixed");
  await page.locator(".explorer-folders-view .monaco-list-row", { hasText: "n.ipynb" }).dblclick();
  await page.locator(".notebook-editor .squiggly-error, .notebookOverlay .squiggly-error").waitFor();
  await picture(page, "notebook");
}

/** Runs inside.test.ts; whether all of it passed. */
async function inside(browser, address) {
  const { page, go } = await open(browser, address, project("tested"));
  const authority = new URL(address).host;
  const uri = (path) => ({ scheme: "vscode-remote", authority, path });
  page.on("console", (message) => {
    const said = message.text().replace(/^%c.*?color: #\w+ /, "");
    if (/^(ok|not ok|\d+ of \d+)\b/.test(said)) {
      console.log(said);
    }
  });
  const ended = new Promise((done) => page.exposeFunction("codeAutomationExit", done));
  // A released workbench takes its test run from nowhere but this, which the page brings along.
  await page.addInitScript((development) => {
    new MutationObserver((_, observer) => {
      const meta = document.getElementById("vscode-workbench-web-configuration");
      if (meta !== null) {
        observer.disconnect();
        const settings = JSON.parse(meta.getAttribute("data-settings"));
        Object.assign((settings.developmentOptions ??= {}), development);
        meta.setAttribute("data-settings", JSON.stringify(settings));
      }
    }).observe(document, { childList: true, subtree: true });
  }, { extensions: [uri(standIn())], extensionTestsPath: uri(resolve("dist/inside.test.js")) });
  await go();
  const code = await ended;
  await picture(page, "ended");
  await page.close();
  return code === 0;
}

async function main() {
  const browser = await chromium.launch({
    executablePath: browserPath,
    args: ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update"],
  });
  let child;
  const limit = setTimeout(() => {
    console.error(`not done after ${MINUTES} minutes`);
    if (child !== undefined) {
      process.kill(-child.pid, "SIGKILL");
    }
    process.exit(1);
  }, MINUTES * 60_000);
  try {
    console.log(`Chromium ${browser.version()}`);
    let address;
    ({ child, address } = await serve());
    const seen = await outside(browser, address);
    return (await inside(browser, address)) && seen ? 0 : 1;
  } finally {
    clearTimeout(limit);
    await browser.close();
    if (child !== undefined) {
      await end(child);
    }
    rmSync(scratch, { recursive: true, force: true, maxRetries: 5 });
  }
}

process.exitCode = await main();
