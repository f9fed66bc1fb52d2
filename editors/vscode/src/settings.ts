// What the extension knows of the user's settings, apart from VS Code itself.

/** Keys that the server understands as they are; see docs/editors.md. */
const FORWARDED = [
  "configuration", "select", "ignore", "unsafeFixes", "targetJax", "inlayHints", "codeLens", "debounce",
] as const;

export interface ServerCommand {
  command: string;
  args: string[];
}

/**
 * How the server is started: by the command of the settings, by the interpreter that the Python extension has chosen, or by
 * what is on the path.
 */
export function serverCommand(configured: readonly string[], interpreter: readonly string[] | undefined): ServerCommand {
  const [command, ...rest] = configured;
  if (command !== undefined && command !== "") {
    return { command, args: [...rest, "server"] };
  }
  const [python, ...options] = interpreter ?? [];
  if (python !== undefined && python !== "") {
    return { command: python, args: [...options, "-m", "flake8_jax", "server"] };
  }
  return { command: "jaxlint", args: ["server"] };
}

/** The settings that are sent to the server; those that are not set are left to the project's configuration. */
export function serverSettings(read: (key: string) => unknown): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  for (const key of FORWARDED) {
    const value = read(key);
    if (value !== undefined && value !== null) {
      found[key] = value;
    }
  }
  return found;
}

/** What to say where the server cannot be started. */
export function remedy(started: ServerCommand, reason: string): string {
  const how = started.args.includes("flake8_jax")
    ? `install it into that environment: ${started.command} -m pip install "flake8-jax[server]"`
    : 'pip install "flake8-jax[server]", or say in "jaxlint.command" where it is';
  return `jaxlint cannot be started (${reason}); ${how}`;
}
