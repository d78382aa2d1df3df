/** Prints a successful build: routes with the gate in force and the level that decided it, webhooks and schedules (contract 8.3). */
import { gzipSync } from 'node:zlib'
import type { Gate, RouteTable } from '../../runtime/table.ts'
import type { Proof } from '../../src/wire/webhook-schemes.ts'

export interface FileSize {
  name: string
  bytes: number
  /** Size in bytes after gzip. */
  gzip: number
}

export function sizeOf(name: string, contents: Uint8Array): FileSize {
  return { name, bytes: contents.length, gzip: gzipSync(contents).length }
}

/** Names the proof that a `signature` block declares. */
function describeProof(proof: Proof): string {
  if (proof.by !== 'hmac') return proof.by
  return proof.label === undefined ? `signature hmac-${proof.hash.toLowerCase().replace('-', '')}` : 'Standard Webhooks'
}

export function report(
  { routes, webhooks, crons = [] }: RouteTable,
  files: readonly FileSize[],
  milliseconds: number,
): string {
  const rows = routes
    .map(({ method, path, gate }) => [method, path, describeGate(gate), decided[gate.decidedBy]])
    .sort((a, b) => (a[1]! < b[1]! ? -1 : a[1]! > b[1]! ? 1 : 0))
  const hooks = webhooks.map(({ name, provider, scheme, events }) => [
    'POST',
    `/webhooks/${name}`,
    provider ?? describeProof(scheme.proof),
    events.map(({ key }) => key).join(', '),
  ])
  const scheduled = crons.map(({ schedule, class: className, handler }) => [schedule, `${className}.${handler}`])
  const built = [count(routes.length, 'route'), count(webhooks.length, 'webhook')]
  const counts = crons.length > 0 ? `${built.join(', ')} and ${count(crons.length, 'schedule')}` : built.join(' and ')
  const sizes = files.map(({ name, bytes, gzip }) => `${name} ${kib(bytes)} (gzip ${kib(gzip)})`)
  return [
    ...table('routes', rows),
    ...table('webhooks', hooks),
    ...table('scheduled (UTC)', scheduled),
    `built ${counts} in ${Math.round(milliseconds)} ms: ${sizes.join(', ')}`,
  ].join('\n')
}

/** The gate in a few words, like `role staff`. */
export function describeGate({ required, role, permission, verifiedEmail, device, serviceRole }: Gate): string {
  if (serviceRole !== undefined) return serviceRole === 'key' ? 'service-role key' : 'service-role key or operator'
  const asks = [
    role === undefined ? '' : `role ${role}`,
    permission === undefined ? '' : `permission ${permission}`,
    verifiedEmail ? 'verified email' : '',
    device === undefined ? '' : device === 'once' ? 'attested device, once' : 'attested device',
  ].filter(Boolean)
  if (asks.length > 0) return asks.join(', ')
  return required ? 'signed in' : 'public'
}

const decided: Record<Gate['decidedBy'], string> = {
  route: 'by the route',
  controller: 'by the controller',
  application: 'by the application default',
  default: 'by default',
}

/** Lines of a table under a title. Columns are as wide as their widest cell. */
export function table(title: string, rows: readonly string[][]): string[] {
  if (rows.length === 0) return []
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
  return [
    title,
    ...rows.map(
      (row) =>
        `  ${row
          .map((cell, column) => cell.padEnd(widths[column]!))
          .join('  ')
          .trimEnd()}`,
    ),
    '',
  ]
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}

export function kib(bytes: number): string {
  return `${(bytes / 1024).toFixed(1)} KiB`
}
