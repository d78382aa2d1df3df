/** What is compared, each a workerd of its own: a project as the build makes it, one Worker by hand, one with the SDKs. */
import path from 'node:path'
import { builtModules, bundle } from '../bundle.ts'
import { startWorkerd, type Workerd, type WorkerModule } from '../workerd.ts'
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
  const built = await builtModules(folder, source)
  const names = built.map(({ name }) => name).join()
  if (names !== 'worker.js') throw new Error(`nothing asks for a database, and there is ${names}`)
  return { built, byHand: await peer('by-hand'), bySdk: await peer('by-sdk') }
}

const peer = (name: string) => bundle(path.join(import.meta.dirname, 'peers', `${name}.ts`))

/** @returns once it answers. */
export function start(modules: readonly WorkerModule[], v8Flags?: readonly string[]): Promise<Workerd> {
  return startWorkerd('/plain', modules, secrets, v8Flags)
}
