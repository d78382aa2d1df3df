/** @param hostname of a `URL`. @returns whether it is this very machine, whatever its network says. */
export function isLoopback(hostname: string): boolean {
  return /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname)
}
