/** Measures how long the command takes to start, from the packed package, beside an empty Node and beside wrangler. */
import { spawnSync } from 'node:child_process'
import path from 'node:path'
import { pack } from '../../tools/pack.ts'
import { ms, printRow } from '../print-row.ts'
import { interleave, median, ratios } from '../statistics.ts'

const packageRoot = path.resolve(import.meta.dirname, '../..')

/** Starts of each command. The median of fewer moves with the machine's other work. */
const rounds = 21

export async function benchCli(): Promise<void> {
  const stack = path.join(pack(), 'bin/stack.cjs')
  const wrangler = path.join(packageRoot, 'node_modules/wrangler/bin/wrangler.js')
  const values = await interleave(rounds, {
    node: () => timeOf(['-e', '0']),
    version: () => timeOf([stack, '--version']),
    help: () => timeOf([stack, '--help']),
    refusal: () => timeOf([stack, 'auth', 'sesions'], 2),
    wrangler: () => timeOf([wrangler, '--version']),
  })
  const { node, wrangler: peer, ...own } = values
  printRow('node -e 0', ms(median(node!)))
  for (const [name, times] of Object.entries(own)) {
    printRow(`stack ${name}, beside node -e 0`, ms(median(times)), median(ratios(times, node!)))
    printRow(`stack ${name}, beside wrangler --version`, ms(median(peer!)), median(ratios(times, peer!)), 'below 1')
  }
}

/** Milliseconds from the start of the process to its end. */
function timeOf(args: string[], expected = 0): number {
  const began = performance.now()
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', cwd: packageRoot })
  if (status !== expected) throw new Error(`${args.join(' ')}: ${status} ${stderr}`)
  return performance.now() - began
}
