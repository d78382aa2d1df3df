/** A line of what was measured: what, how much, and as a ratio to its peer, with the target beside it. */
export function say(what: string, measured: string, ratio?: number, target?: string): void {
  const compared = ratio === undefined ? '' : `${ratio.toFixed(2)} ×`
  console.log(`  ${what.padEnd(52)} ${measured.padStart(16)}   ${compared}${target ? `  (${target})` : ''}`)
}

export const ms = (value: number) => `${value.toFixed(value < 10 ? 1 : 0)} ms`
