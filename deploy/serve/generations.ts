/** The files of what is served: the bundles as they were at the start or the reload, and the configuration of each process. */
import * as fs from 'node:fs'
import path from 'node:path'
import { rootCertificates } from 'node:tls'
import { cronsIn } from '../../local/bundle.ts'
import type { ServedCron } from '../../local/cron.ts'
import type { StorageTarget } from '../storage/target.ts'
import type { FrontSettings } from '../workers/control-protocol.ts'
import type { WorkerBindings } from './bindings.ts'
import { workerdEnvironment } from './bindings.ts'
import { type ConfigOptions, workerdConfig } from './config.ts'
import type { Generation } from './fleet.ts'
import type { WorkerSources } from './worker-sources.ts'

export interface Bundles {
  /** The folder of the backend worker's bundle, with `table.json` beside it. */
  backend: string
  /** The same of the auth worker. */
  auth: string
}

export interface GenerationOptions {
  number: number
  /** A folder that other users cannot enter. */
  directory: string
  bundles: Bundles
  bindings: WorkerBindings
  sources: WorkerSources
  front: Omit<FrontSettings, 'routes'>
  storage: StorageTarget
  storageSocket: string
  /** Certificates in PEM form that the workers trust beside those of Node. */
  certificates: readonly string[]
}

export interface WrittenGeneration extends Generation {
  crons: ServedCron[]
  /** The folder of each worker's bundle. */
  outs: Record<'backend' | 'auth', string>
  /** A configuration that listens on any free port of loopback. */
  probe(): { config: string; control: string }
  remove(): void
}

/** Copies the bundles: a process that is restarted must not find those of a later build. */
export function writeGeneration(options: GenerationOptions): WrittenGeneration {
  const { number, directory, bundles, bindings, storage } = options
  const folder = path.join(directory, `generation-${number}`)
  for (const worker of ['backend', 'auth'] as const) {
    fs.cpSync(bundles[worker], path.join(folder, worker, 'out'), { recursive: true })
    fs.copyFileSync(path.join(bundles[worker], '../table.json'), path.join(folder, worker, 'table.json'))
  }
  const outs = { backend: path.join(folder, 'backend/out'), auth: path.join(folder, 'auth/out') }
  const write = (name: string, address?: string) => {
    const control = path.join(directory, `${name}-${number}.socket`)
    const config = path.join(folder, `${name}.capnp`)
    fs.writeFileSync(config, configText(options, outs, control, address), { mode: 0o600 })
    return { config, control }
  }
  return {
    number,
    outs,
    crons: [...cronsIn('backend', outs.backend), ...cronsIn('auth', outs.auth)],
    environment: workerdEnvironment(bindings, storage.kind === 's3' ? storage.credentials : {}),
    configOf: (process) => write(`process-${process}`),
    probe: () => write('probe', '127.0.0.1:0'),
    remove: () => fs.rmSync(folder, { recursive: true, force: true }),
  }
}

function configText(
  { bindings, sources, front, storage, storageSocket, certificates }: GenerationOptions,
  outs: Record<'backend' | 'auth', string>,
  control: string,
  address: string | undefined,
): string {
  const worker = (name: 'backend' | 'auth') => ({
    out: outs[name],
    shown: `${name}/out`,
    bindings: Object.keys(bindings[name]),
  })
  const options: ConfigOptions = {
    backend: worker('backend'),
    auth: worker('auth'),
    ...{ sources, front, storage, storageSocket },
    control: `unix:${control}`,
    // the image of a container may have no certificates of its own
    certificates: [...rootCertificates, ...certificates],
    ...(address === undefined ? {} : { address }),
  }
  return workerdConfig(options)
}
