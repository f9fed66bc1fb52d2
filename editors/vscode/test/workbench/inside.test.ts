// Runs inside the extension host of a real VS Code, next to the extension as it is installed; see outside.mjs.
// The workspace is the one that outside.mjs writes: a.py, b.py, c.py and n.ipynb with one finding each.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import * as vscode from "vscode";

const PATIENCE = 30_000;

/** Waits until this says something; what it says. Asked again with every change of a diagnostic, and ten times a second. */
async function until<T>(what: string, ask: () => T | undefined | false | PromiseLike<T | undefined | false>): Promise<T> {
  const end = Date.now() + PATIENCE;
  for (;;) {
    const said = await ask();
    if (said !== undefined && said !== false) {
      return said;
    }
    if (Date.now() > end) {
      throw new assert.AssertionError({ message: `not in ${PATIENCE} milliseconds: ${what}` });
    }
    await new Promise<void>((resolve) => {
      const timer = setTimeout(done, 100);
      const listener = vscode.languages.onDidChangeDiagnostics(done);
      function done(): void {
        clearTimeout(timer);
        listener.dispose();
        resolve();
      }
    });
  }
}

function fileUri(name: string): vscode.Uri {
  const folder = vscode.workspace.workspaceFolders?.[0];
  assert(folder !== undefined, "no folder is open");
  return vscode.Uri.joinPath(folder.uri, name);
}

function findings(uri: vscode.Uri): vscode.Diagnostic[] {
  return vscode.languages.getDiagnostics(uri).filter((found) => found.source === "jaxlint");
}

function codes(uri: vscode.Uri): string {
  return findings(uri).map((found) => String(codeOf(found))).join(" ");
}

function codeOf(found: vscode.Diagnostic): string | number | undefined {
  return typeof found.code === "object" ? found.code.value : found.code;
}

async function shown(name: string): Promise<vscode.TextEditor> {
  return await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(fileUri(name)));
}

async function replaced(document: vscode.TextDocument, text: string): Promise<void> {
  const edit = new vscode.WorkspaceEdit();
  edit.replace(document.uri, new vscode.Range(0, 0, document.lineCount, 0), text);
  assert(await vscode.workspace.applyEdit(edit));
}

/** What the server says of itself, once one answers; its process, if not `but`. */
async function server(but?: number): Promise<{ pid: number; text: string }> {
  return await until("the server answers", async () => {
    try {
      const text = await vscode.commands.executeCommand<string | undefined>("jaxlint.printDebugInformation");
      const pid = Number(/process (\d+)/.exec(text ?? "")?.[1] ?? but);
      return text !== undefined && pid !== but && { pid, text };
    } catch {
      return undefined; // it is being started
    }
  });
}

function runs(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function set(key: string, value: unknown): Promise<void> {
  await vscode.workspace.getConfiguration("jaxlint").update(key, value, vscode.ConfigurationTarget.Workspace);
}

async function hovered(uri: vscode.Uri, line: number, column: number): Promise<string> {
  const place = new vscode.Position(line, column);
  const hovers = await vscode.commands.executeCommand<vscode.Hover[]>("vscode.executeHoverProvider", uri, place);
  return hovers.flatMap((hover) => hover.contents.map((text) => (typeof text === "string" ? text : text.value))).join("\n");
}

const everything = new vscode.Range(0, 0, 1000, 0);

/** Shows the files of the workspace under another scheme. */
class Other implements vscode.FileSystemProvider {
  static readonly scheme = "jaxlint-other";
  readonly onDidChangeFile = new vscode.EventEmitter<vscode.FileChangeEvent[]>().event;
  watch = (): vscode.Disposable => new vscode.Disposable(() => undefined);
  stat = (uri: vscode.Uri): Thenable<vscode.FileStat> => vscode.workspace.fs.stat(fileUri(uri.path));
  readFile = (uri: vscode.Uri): Thenable<Uint8Array> => vscode.workspace.fs.readFile(fileUri(uri.path));
  readDirectory = (): never => never();
  createDirectory = (): never => never();
  writeFile = (): never => never();
  delete = (): never => never();
  rename = (): never => never();
}

function never(): never {
  throw vscode.FileSystemError.NoPermissions();
}

const tests: [string, () => Promise<void>][] = [];
function test(name: string, body: () => Promise<void>): void {
  tests.push([name, body]);
}

test("a file that is open is looked at, and one that is not", async () => {
  await shown("a.py");
  await until("JAX203 in a.py", () => codes(fileUri("a.py")) === "JAX203");
  await until("JAX203 in b.py, which is closed", () => codes(fileUri("b.py")) === "JAX203");
  const [found] = findings(fileUri("a.py"));
  assert.match(found?.message ?? "", /np\.sin/);
  assert.deepEqual(found?.range, new vscode.Range(6, 11, 6, 20));
  assert.match(found?.relatedInformation?.[0]?.message ?? "", /jax\.jit/);
});

test("hover, inlay hints and code lenses say what is traced", async () => {
  const { document } = await shown("a.py");
  assert.match(await hovered(document.uri, 5, 4), /jax\.jit/);
  const hints = await vscode.commands.executeCommand<vscode.InlayHint[]>("vscode.executeInlayHintProvider", document.uri, everything);
  assert.deepEqual(hints.map((hint) => hint.label), [": traced"]);
  const lenses = await vscode.commands.executeCommand<vscode.CodeLens[]>("vscode.executeCodeLensProvider", document.uri, 10);
  const [lens] = lenses;
  assert.match(lens?.command?.title ?? "", /traced by jax\.jit at a\.py:5/);
  await vscode.commands.executeCommand(lens?.command?.command ?? "", ...(lens?.command?.arguments ?? []));
  await until("the cursor is where f is staged", () => vscode.window.activeTextEditor?.selection.active.line === 4);
});

test("texts that are no file of the user's are left alone", async () => {
  // The other side of a diff is such a text: Python, or a notebook, that jaxlint cannot fix.
  await shown("a.py");
  const files = new Other();
  const provider = vscode.workspace.registerFileSystemProvider(Other.scheme, files, { isReadonly: true });
  const document = await vscode.workspace.openTextDocument(vscode.Uri.parse(`${Other.scheme}:/a.py`));
  await vscode.window.showTextDocument(document);
  assert.equal(document.languageId, "python");
  const notebook = await vscode.workspace.openNotebookDocument(vscode.Uri.parse(`${Other.scheme}:/n.ipynb`));
  await vscode.window.showNotebookDocument(notebook);
  assert.equal(notebook.cellAt(1).document.languageId, "python");
  const { text } = await server();
  assert.match(text, /open: file:.*a\.py/);
  assert.doesNotMatch(text, /open: (?!file:)/);
  await vscode.commands.executeCommand("workbench.action.closeActiveEditor");
  provider.dispose();
});

test("a text that was never saved is looked at", async () => {
  const content = (await shown("a.py")).document.getText();
  const document = await vscode.workspace.openTextDocument({ language: "python", content });
  await vscode.window.showTextDocument(document);
  await until("JAX203 in it", () => codes(document.uri) === "JAX203");
  await replaced(document, "");
  await until("it goes away", () => codes(document.uri) === "");
  await vscode.commands.executeCommand("workbench.action.revertAndCloseActiveEditor");
});

test("a quick fix applies, and silences", async () => {
  const { document } = await shown("a.py");
  const [found] = await until("the finding", () => findings(document.uri).length === 1 && findings(document.uri));
  const actions = await vscode.commands.executeCommand<vscode.CodeAction[]>(
    "vscode.executeCodeActionProvider", document.uri, found?.range, vscode.CodeActionKind.QuickFix.value, 10,
  );
  const fix = actions.find((action) => action.isPreferred === true);
  assert(fix?.edit !== undefined, `no fix among: ${actions.map((action) => action.title).join("; ")}`);
  const silence = actions.find((action) => /this line/.test(action.title));
  assert(silence?.edit !== undefined, "nothing to silence it");
  const before = document.getText();
  assert(await vscode.workspace.applyEdit(silence.edit));
  assert.match(document.getText(), /np\.sin\(x\)  # noqa: JAX203/);
  await until("the finding is silenced", () => codes(document.uri) === "");
  assert.match(await hovered(document.uri, 6, document.lineAt(6).text.length - 2), /JAX203/);
  await replaced(document, before);
  await until("it is back", () => codes(document.uri) === "JAX203");
  assert(await vscode.workspace.applyEdit(fix.edit));
  assert.match(document.getText(), /return jnp\.sin\(x\)/);
  await until("the finding is fixed", () => codes(document.uri) === "");
  await replaced(document, before);
  await until("it is back", () => codes(document.uri) === "JAX203");
});

test("the command fixes everything", async () => {
  const { document } = await shown("b.py");
  await until("the finding", () => codes(document.uri) === "JAX203");
  const before = document.getText();
  await vscode.commands.executeCommand("jaxlint.fixAll");
  await until("the text is fixed", () => /return jnp\.sin\(x\)/.test(document.getText()));
  assert.match(document.getText(), /import jax\.numpy as jnp/);
  await until("the finding is gone", () => codes(document.uri) === "");
  await replaced(document, before);
  await until("the finding is back", () => codes(document.uri) === "JAX203");
  assert(await document.save());
});

test("settings are heeded when they change", async () => {
  const { document } = await shown("a.py");
  await until("the finding", () => codes(document.uri) === "JAX203");
  const { pid } = await server();
  await set("ignore", ["JAX203"]);
  await until("the finding is ignored", () => codes(document.uri) === "" && codes(fileUri("b.py")) === "");
  await set("ignore", undefined);
  await until("the finding is back", () => codes(document.uri) === "JAX203" && codes(fileUri("b.py")) === "JAX203");
  await set("inlayHints", false);
  await until("no inlay hints", async () => (await vscode.commands.executeCommand<unknown[]>(
    "vscode.executeInlayHintProvider", document.uri, everything)).length === 0);
  await set("inlayHints", undefined);
  assert.equal((await server()).pid, pid, "that started another server");
});

test("files that something else writes are read again", async () => {
  await shown("a.py");
  const [text, notebook] = [fileUri("c.py"), fileUri("n.ipynb")]; // no test has opened these
  await until("the findings", () => codes(text) === "JAX203" && codes(notebook) === "JAX203");
  const before = [readFileSync(text.fsPath, "utf8"), readFileSync(notebook.fsPath, "utf8")] as const;
  writeFileSync(text.fsPath, before[0].replace("np.sin", "abs"));
  await until("that of the text is gone", () => codes(text) === "");
  writeFileSync(notebook.fsPath, before[1].replace("np.sin", "abs"));
  await until("that of the notebook is gone", () => codes(notebook) === "");
  writeFileSync(text.fsPath, before[0]);
  writeFileSync(notebook.fsPath, before[1]);
  await until("both are back", () => codes(text) === "JAX203" && codes(notebook) === "JAX203");
});

test("a notebook's finding is told in its cell, and only there", async () => {
  const notebook = await vscode.workspace.openNotebookDocument(fileUri("n.ipynb"));
  await vscode.window.showNotebookDocument(notebook);
  const cell = notebook.cellAt(1).document;
  await until("JAX203 in the cell", () => codes(cell.uri) === "JAX203");
  assert.equal(findings(cell.uri)[0]?.range.start.line, 2);
  await until("none for the file beside it", () => codes(notebook.uri) === "");
  const hints = await vscode.commands.executeCommand<vscode.InlayHint[]>("vscode.executeInlayHintProvider", cell.uri, everything);
  assert.deepEqual(hints.map((hint) => hint.label), [": traced"]);
  assert.match(await hovered(cell.uri, 1, 4), /jax\.jit/);
});

test("the command fixes a notebook", async () => {
  const notebook = await vscode.workspace.openNotebookDocument(fileUri("n.ipynb"));
  await vscode.window.showNotebookDocument(notebook);
  const cell = notebook.cellAt(1).document;
  await until("JAX203 in the cell", () => codes(cell.uri) === "JAX203");
  await vscode.commands.executeCommand("jaxlint.fixAll");
  await until("the cell is fixed", () => /jnp\.sin/.test(cell.getText()));
  assert.match(notebook.cellAt(0).document.getText(), /import jax\.numpy as jnp/);
  await until("the finding is gone", () => codes(cell.uri) === "");
  await vscode.commands.executeCommand("workbench.action.revertAndCloseActiveEditor");
});

test("the command to restart starts another server", async () => {
  await shown("a.py");
  const { pid } = await server();
  await vscode.commands.executeCommand("jaxlint.restart");
  await server(pid);
  await until("the first one has ended", () => !runs(pid));
  await until("the finding", () => codes(fileUri("a.py")) === "JAX203");
});

test("a server that dies is started again", async () => {
  await shown("a.py");
  const { pid } = await server();
  process.kill(pid, "SIGKILL");
  assert(runs((await server(pid)).pid));
  await until("the finding", () => codes(fileUri("a.py")) === "JAX203");
});

test("a command that cannot be started takes the findings away, and one that can brings them back", async () => {
  await shown("a.py");
  const { pid } = await server();
  const command = vscode.workspace.getConfiguration("jaxlint").get("command");
  await set("command", ["jaxlint-is-not-here"]);
  await until("the server has ended", () => !runs(pid));
  await until("no findings", () => codes(fileUri("a.py")) === "");
  await set("command", command);
  await until("the finding", () => codes(fileUri("a.py")) === "JAX203");
});

test("without a command, the interpreter of the Python extension counts", async () => {
  // outside.mjs installs a stand-in for that extension; its commands say which interpreter it has, and that it is another.
  await shown("a.py");
  const { pid } = await server();
  const command = vscode.workspace.getConfiguration("jaxlint").get<string[]>("command", []);
  await set("command", []);
  await until("the first server has ended", () => !runs(pid));
  const second = (await server(pid)).pid;
  await until("the finding", () => codes(fileUri("a.py")) === "JAX203");
  await vscode.commands.executeCommand("standIn.choose", command[0]);
  await until("it ends when another interpreter is chosen", () => !runs(second));
  await until("the finding", () => codes(fileUri("a.py")) === "JAX203");
  await set("command", command);
});

export async function run(): Promise<void> {
  const failed: string[] = [];
  for (const [name, body] of tests) {
    const start = Date.now();
    try {
      await body();
      console.log(`ok: ${name} (${Date.now() - start} ms)`);
    } catch (error) {
      failed.push(name);
      console.log(`not ok: ${name}: ${error instanceof Error ? error.stack : String(error)}`);
    }
  }
  console.log(`${tests.length - failed.length} of ${tests.length} inside VS Code ${vscode.version}`);
  if (failed.length > 0) {
    throw new Error(`${failed.length} failed`);
  }
}
