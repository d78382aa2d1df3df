/** The folder in which the person typed the command: `npm run` itself moves to the root of the package. */
export function workingDirectory(): string {
  return process.env['INIT_CWD'] ?? process.cwd()
}
