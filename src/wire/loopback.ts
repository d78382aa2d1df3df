/** @param hostname of a `URL`. @returns whether it names this machine without asking a name server. */
export function isLoopback(hostname: string): boolean {
  return /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname)
}
