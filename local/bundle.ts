/** A built worker on the disk: its modules, and what its route table asks of the runtime. */
import * as fs from 'node:fs'
import path from 'node:path'
import type { RateLimit, Route, RouteTable } from '../runtime/table.ts'
import type { ServedCron } from './cron.ts'

/** The route table of the bundle in a folder. */
function tableOf(out: string): RouteTable {
  return JSON.parse(fs.readFileSync(path.join(out, '../table.json'), 'utf8')) as RouteTable
}

export function cronsIn(worker: ServedCron['worker'], out: string): ServedCron[] {
  return (tableOf(out).crons ?? []).map((cron) => ({ ...cron, worker }))
}

/** The rate limits of the routes, which need a binding each. Several routes may share one. */
export function limitsIn(out: string): RateLimit[] {
  return tableOf(out).routes.flatMap(({ limit }) => (limit ? [limit] : []))
}

export function routesIn(out: string): Pick<Route, 'method' | 'path'>[] {
  return tableOf(out).routes.map(({ method, path }) => ({ method, path }))
}

export function webhooksIn(out: string): RouteTable['webhooks'] {
  return tableOf(out).webhooks
}

/** Whether the bundle of an auth worker enrols debug devices, whose keys prove nothing about a device. */
export function hasDebugDevices(out: string): boolean {
  return routesIn(out).some(({ path }) => path.startsWith('/auth/devices/debug'))
}

/** A bundle with the database driver exports the class of the pool. */
export function needsPool(out: string): boolean {
  return fs.existsSync(path.join(out, 'driver.js'))
}

/** Names of the modules, `worker.js` first, because the first one is the entry. */
export function moduleNames(out: string): string[] {
  const names = fs.readdirSync(out).filter((name) => /\.(?:js|wasm)$/.test(name))
  return names.sort((a, b) => Number(b === 'worker.js') - Number(a === 'worker.js'))
}
