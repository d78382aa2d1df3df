/** The compared workers, each in a workerd of its own: a built project, a Worker by hand, and one with the SDKs. */
import path from 'node:path'
import { builtModules, bundle } from '../bundle.ts'
import { startWorkerd, type Workerd, type WorkerModule } from '../workerd.ts'
import { secrets } from './deliveries.ts'

export type Variant = 'built' | 'byHand' | 'bySdk'

/** A project that does as little as its peers. It uses no database, so that the bundle holds no driver. */
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

/** @param folder the folder that the project is written to. */
export async function bundles(folder: string): Promise<Record<Variant, WorkerModule[]>> {
  const built = await builtModules(folder, source)
  const names = built.map(({ name }) => name).join()
  if (names !== 'worker.js') throw new Error(`nothing asks for a database, and there is ${names}`)
  return { built, byHand: await peer('by-hand'), bySdk: await peer('by-sdk') }
}

const peer = (name: string) => bundle(path.join(import.meta.dirname, 'peers', `${name}.ts`))

/** Resolves when the worker answers. */
export function start(modules: readonly WorkerModule[], v8Flags?: readonly string[]): Promise<Workerd> {
  return startWorkerd('/plain', modules, secrets, v8Flags)
}
