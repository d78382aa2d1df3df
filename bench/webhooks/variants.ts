/** What is compared, each a workerd of its own: a project as the build makes it, one Worker by hand, one with the SDKs. */
import * as fs from 'node:fs'
import path from 'node:path'
import esbuild from 'esbuild'
import { build } from '../../build/index.ts'
import { projectTarget } from '../../build/targets.ts'
import { spawnWorkerd, type Workerd, type WorkerModule } from '../workerd.ts'
import { secrets } from './deliveries.ts'

export type Variant = 'built' | 'byHand' | 'bySdk'

/** As little as the peers do: no database is used, so that none is in the bundle. */
const source = `import { Controller, Get, Module, On, Webhook } from '@stack/backend'

function look({ id }: { id?: unknown }): void {
  if (typeof id !== 'string') throw new TypeError('a delivery has an id')
}

@Webhook({ name: 'stripe', provider: 'stripe', secret: { env: 'STRIPE_SECRET' } })
export class StripeWebhook {
  @On('invoice.paid')
  paid(payload: { id?: unknown }): void {
    look(payload)
  }
}

@Webhook({ name: 'github', provider: 'github', secret: { env: 'GITHUB_SECRET' } })
export class GithubWebhook {
  @On('issues.opened')
  opened(payload: { id?: unknown }): void {
    look(payload)
  }
}

@Controller('/plain', { auth: false })
export class PlainController {
  @Get()
  plain() {
    return { ok: true }
  }
}

@Module({ controllers: [PlainController], providers: [StripeWebhook, GithubWebhook] })
export class AppModule {}
`

/** @param folder where the project is written. */
export async function bundles(folder: string): Promise<Record<Variant, WorkerModule[]>> {
  const file = path.join(folder, 'src/app.module.ts')
  fs.mkdirSync(path.dirname(file), { recursive: true })
  fs.writeFileSync(file, source)
  const { built } = await build(
    projectTarget(folder, { project: 'bench', entry: 'src/app.module.ts', budgetKib: 100_000 }, []),
  )
  if (!built) throw new Error('the project is refused')
  const out = path.join(folder, '.stack/out')
  const modules = fs.readdirSync(out).filter((name) => name.endsWith('.js'))
  if (modules.join() !== 'worker.js') throw new Error(`nothing asks for a database, and there is ${modules.join(', ')}`)
  return {
    built: [{ name: 'worker.js', contents: fs.readFileSync(path.join(out, 'worker.js')) }],
    byHand: await peer('by-hand'),
    bySdk: await peer('by-sdk'),
  }
}

/** Minified, as the build's own. */
async function peer(name: string): Promise<WorkerModule[]> {
  const { outputFiles } = await esbuild.build({
    entryPoints: [path.join(import.meta.dirname, 'peers', `${name}.ts`)],
    bundle: true,
    write: false,
    minify: true,
    format: 'esm',
    target: 'es2024',
    conditions: ['workerd', 'worker', 'browser'],
    external: ['node:*'],
  })
  return [{ name: 'worker.js', contents: outputFiles[0]!.contents }]
}

/** @returns once it answers. */
export async function start(modules: readonly WorkerModule[], v8Flags: readonly string[] = []): Promise<Workerd> {
  const workerd = await spawnWorkerd(modules, secrets, v8Flags)
  await workerd.answered('/plain').catch(async (error) => {
    await workerd.stop()
    throw error
  })
  return workerd
}
