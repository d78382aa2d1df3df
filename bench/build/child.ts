/** Runs one measurement in a process of its own, and prints the milliseconds since its start and its peak memory in MiB. */
import * as fs from 'node:fs'
import { enableCompileCache } from 'node:module'
import path from 'node:path'

const [variant, root, dist] = process.argv.slice(2) as [string, string, string]

if (variant === 'ts-morph') {
  const { scanWithTsMorph } = await import('./plain-ts-morph.ts')
  scanWithTsMorph(root)
} else {
  // The command line uses the compile cache, too.
  enableCompileCache(path.join(dist, '../node_modules/.cache/stack'))
  const { projectTarget } = await import(path.join(dist, 'build/targets.js'))
  const { roles } = JSON.parse(fs.readFileSync(path.join(root, 'stack/roles.json'), 'utf8'))
  const target = projectTarget(root, { project: 'bench', entry: 'src/app.module.ts', budgetKib: 100_000 }, roles)
  if (variant === 'compile') {
    const { Compiler } = await import(path.join(dist, 'build/compiler.js'))
    const { entrySource } = await import(path.join(dist, 'build/emit/entry.js'))
    const { linked, refusals } = new Compiler({ ...target, isLast: true }).check()
    if (refusals.length > 0) throw new Error(JSON.stringify(refusals[0]))
    const runtime = {
      worker: 'worker.ts',
      transaction: 'transaction.ts',
      scope: 'scope.ts',
      cors: 'cors.ts',
      limits: 'limits.ts',
      coerce: 'coerce.ts',
      webhooks: 'webhooks',
    }
    const emitted = [JSON.stringify(linked.table, undefined, 2), entrySource(linked, true, runtime, root)]
    if (emitted.some((text) => text.length === 0)) throw new Error('nothing was emitted')
  } else {
    const { buildCached } = await import(path.join(dist, 'build/cached.js'))
    const { built } = await buildCached(target)
    if (!built) throw new Error('refused')
  }
}
const milliseconds = performance.now()
process.stdout.write(JSON.stringify({ milliseconds, mebibytes: process.resourceUsage().maxRSS / 1024 }))
process.exit(0)
