/** Debug devices: keys without hardware, for local stacks, simulators and pipelines. */

/**
 * The text that a new debug key signs. Its first line differs from that of every request, so that neither signature stands for the
 * other.
 *
 * @param challenge base64url.
 */
export function debugText(challenge: string): string {
  return `stack-debug-device-1\n${challenge}`
}
