// Starts `jaxlint server`, and again when the interpreter or the settings that start it change.

import * as vscode from "vscode";
import { LanguageClient, type LanguageClientOptions, type ServerOptions } from "vscode-languageclient/node";

import { remedy, serverCommand, serverSettings } from "./settings";

interface PythonExtension {
  environments?: {
    getActiveEnvironmentPath(resource?: vscode.Uri): { path: string };
    resolveEnvironment(environment: { path: string }): Promise<{ executable: { uri?: vscode.Uri } } | undefined>;
    onDidChangeActiveEnvironmentPath: vscode.Event<unknown>;
  };
}

let client: LanguageClient | undefined;
let restarting: Promise<void> = Promise.resolve();

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const output = vscode.window.createOutputChannel("jaxlint");
  const restart = (): Promise<void> => {
    restarting = restarting.then(() => stop()).then(() => start(output));
    return restarting;
  };
  context.subscriptions.push(
    output,
    vscode.commands.registerCommand("jaxlint.restart", restart),
    vscode.commands.registerCommand("jaxlint.fixAll", fixAll),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("jaxlint.command")) {
        void restart();
      } else if (event.affectsConfiguration("jaxlint")) {
        void client?.sendNotification("workspace/didChangeConfiguration", { settings: { jaxlint: settings() } });
      }
    }),
  );
  const changed = (await python())?.environments?.onDidChangeActiveEnvironmentPath;
  if (changed !== undefined) {
    context.subscriptions.push(changed(() => void restart()));
  }
  await restart();
}

export async function deactivate(): Promise<void> {
  await restarting;
  await stop();
}

async function start(output: vscode.OutputChannel): Promise<void> {
  const configured = vscode.workspace.getConfiguration("jaxlint").get<string[]>("command", []);
  const command = serverCommand(configured, await interpreter());
  // Python 3.11 and newer import nothing from the workspace then.
  const env = { ...process.env, PYTHONSAFEPATH: "1" };
  const server: ServerOptions = { ...command, options: { cwd: vscode.workspace.workspaceFolders?.[0]?.uri.fsPath, env } };
  const options: LanguageClientOptions = {
    // Not the other side of a diff, nor what an extension makes up: jaxlint cannot fix those.
    documentSelector: ["file", "untitled"].flatMap((scheme) => [
      { scheme, language: "python" },
      { notebook: { scheme, notebookType: "jupyter-notebook" }, language: "python" },
    ]),
    outputChannel: output,
    initializationOptions: settings(),
  };
  client = new LanguageClient("jaxlint", "jaxlint", server, options);
  try {
    await client.start();
  } catch (error) {
    client = undefined;
    const text = remedy(command, error instanceof Error ? error.message : String(error));
    output.appendLine(text);
    void vscode.window.showErrorMessage(text);
  }
}

async function stop(): Promise<void> {
  const running = client;
  client = undefined;
  await running?.dispose();
}

function settings(): Record<string, unknown> {
  const read = vscode.workspace.getConfiguration("jaxlint");
  return serverSettings((key) => read.get(key));
}

async function python(): Promise<PythonExtension | undefined> {
  const extension = vscode.extensions.getExtension<PythonExtension>("ms-python.python");
  return extension === undefined ? undefined : await extension.activate();
}

/** The interpreter that the Python extension uses for the first folder. */
async function interpreter(): Promise<string[] | undefined> {
  const environments = (await python())?.environments;
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
  if (environments === undefined) {
    return undefined;
  }
  const found = await environments.resolveEnvironment(environments.getActiveEnvironmentPath(folder));
  return found?.executable.uri === undefined ? undefined : [found.executable.uri.fsPath];
}

/** Not by way of `editor.action.codeAction`: from the palette, VS Code 1.82 throws the server's answer to that away. */
async function fixAll(): Promise<void> {
  const uri = vscode.window.activeNotebookEditor?.notebook.uri ?? vscode.window.activeTextEditor?.document.uri;
  if (client === undefined || uri === undefined) {
    return;
  }
  const given = { uri: client.code2ProtocolConverter.asUri(uri) };
  const params = { command: "jaxlint.applyAutofix", arguments: [given] };
  if (!(await client.sendRequest<boolean>("workspace/executeCommand", params))) {
    void vscode.window.showInformationMessage("jaxlint: there is nothing here that can be fixed safely.");
  }
}
