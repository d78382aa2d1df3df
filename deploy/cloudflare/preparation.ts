/** The steps of a push that need no server: the build, the limits of the plan, and the rehearsal. */
import * as fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { buildCached } from '../../build/cached.ts'
import { kib } from '../../build/emit/report.ts'
import type { BuildResult, Built } from '../../build/options.ts'
import { authTarget, projectTarget } from '../../build/targets.ts'
import { findPort } from '../../local/ports.ts'
import { startWorkers } from '../../local/worker.ts'
import type { DeclaredRole, Project } from '../../src/wire/project.ts'
import { type Deployment, type WorkerName, writeConfigurations } from './configuration.ts'
import { PushFault } from './fault.ts'
import { compressed, type Plan, planNotes, planSizeKib, sizeFault, startupNote } from './plan.ts'
import { measureStartup, rehearse } from './wrangler.ts'

/** The project does not build. */
export class BuildRefused extends Error {
  override name = 'BuildRefused'
  readonly result: BuildResult

  constructor(result: BuildResult) {
    super('the project was refused')
    this.result = result
  }
}

/**
 * Builds both workers.
 *
 * @param hasDebugDevices of the environment in `stack/project.json`. @throws BuildRefused, or PushFault for a worker that the plan does not admit.
 */
export async function buildBoth(
  root: string,
  project: Project,
  roles: readonly DeclaredRole[],
  plan: Plan,
  hasDebugDevices = false,
): Promise<Record<WorkerName, Built>> {
  // a bundle that the plan does not admit is refused by the build, which names the largest packages
  const budgetKib = Math.min(project.budgetKib, planSizeKib[plan])
  const [backend, auth] = await Promise.all([
    buildCached(projectTarget(root, { ...project, budgetKib }, roles)),
    buildCached(authTarget(path.join(root, '.stack/auth'), hasDebugDevices)),
  ])
  for (const result of [backend, auth]) if (!result.built) throw new BuildRefused(result)
  const built = { auth: auth.built!, backend: backend.built! }
  for (const worker of ['auth', 'backend'] as const) {
    const fault = sizeFault(worker, built[worker].sizes, plan)
    if (fault) throw new PushFault('refused', fault)
  }
  return built
}

export function buildText({ auth, backend }: Record<WorkerName, Built>): string {
  const { routes, webhooks, crons = [] } = backend.table
  const sizeOf = ({ sizes }: Built) =>
    `${kib(sizes.reduce((sum, { bytes }) => sum + bytes, 0))} (gzip ${kib(compressed(sizes))})`
  const scheduled = crons.length > 0 ? `, ${crons.length} scheduled` : ''
  return `build      ${routes.length} routes, ${webhooks.length} webhooks${scheduled} · backend ${sizeOf(backend)}, auth ${sizeOf(auth)}`
}

/** The words with which the local stack names a bundle that throws while it is loaded. */
const noStart = /^the (?:backend|auth) worker does not start/

/**
 * Starts both bundles in workerd once, without a database. The platform would refuse one that throws while it is loaded, but only
 * when the database has been migrated for it.
 *
 * @returns a line where this machine cannot start workerd. @throws PushFault with the place in the source.
 */
async function startBoth(root: string): Promise<string[]> {
  const storage = fs.mkdtempSync(path.join(os.tmpdir(), 'stack-push-'))
  try {
    const workers = await startWorkers({
      port: await findPort(),
      storage,
      backend: { out: path.join(root, '.stack/out'), bindings: {} },
      auth: { out: path.join(root, '.stack/auth/out'), bindings: {} },
      onRestart() {},
      onLog() {},
      onCron: async () => ({ status: 503, body: {} }),
    })
    await workers.stop()
    return []
  } catch (error) {
    const { message } = error as Error
    if (noStart.test(message)) throw new PushFault('refused', message)
    return [
      `startup    ! workerd does not run on this machine, so the bundles were not started: ${message.split('\n')[0]}`,
    ]
  } finally {
    fs.rmSync(storage, { recursive: true, force: true })
  }
}

/**
 * Runs wrangler as the deployment will, without any network, and loads both bundles in workerd.
 *
 * @returns the lines about it. @throws PushFault where wrangler refuses.
 */
export async function rehearseBoth(deployment: Deployment): Promise<string[]> {
  const notes = await startBoth(deployment.root)
  const files = writeConfigurations(deployment)
  const directory = path.dirname(files.backend)
  const starts = await Promise.all(
    (['backend', 'auth'] as const).map(async (worker) => {
      const bundle = path.join(directory, `${worker}.bundle`)
      try {
        await rehearse(files[worker], bundle, { directory })
        return `startup    ${startupNote(worker, await measureStartup(bundle, { directory }))}`
      } finally {
        for (const file of [bundle, `${bundle}.cpuprofile`]) fs.rmSync(file, { force: true })
      }
    }),
  )
  return [...planNotes(deployment.plan).map((note) => `plan       ${note}`), ...notes, ...starts]
}
