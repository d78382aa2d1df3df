/** Prints a line of a measurement: its name, the value, and the ratio to its peer with the target beside it. */
export function printRow(name: string, measured: string, ratio?: number, target?: string): void {
  const compared = ratio === undefined ? '' : `${ratio.toFixed(2)} ×`
  console.log(`  ${name.padEnd(52)} ${measured.padStart(16)}   ${compared}${target ? `  (${target})` : ''}`)
}

export const ms = (value: number) => `${value.toFixed(value < 10 ? 1 : 0)} ms`
