/** Request metrics of a served stack in Prometheus' text form, and its liveness, on a port of their own. */
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { PortTaken } from '../../local/ports.ts'
import { isLoopback } from '../../src/wire/loopback.ts'
import { durationBounds, type ProcessMetrics } from '../workers/control-protocol.ts'
import type { ProcessState } from './fleet.ts'

export interface Snapshot {
  states: readonly ProcessState[]
  /** By process. `undefined` stands for one that does not answer. */
  metrics: readonly (ProcessMetrics | undefined)[]
  reloads: { succeeded: number; failed: number }
}

export interface MetricsServer {
  port: number
  stop(): Promise<void>
}

/** @throws PortTaken */
export async function serveMetrics(
  host: string,
  port: number,
  snapshot: () => Promise<Snapshot>,
): Promise<MetricsServer> {
  const isLocal = isLoopback(host.includes(':') ? `[${host}]` : host)
  const server = http.createServer(async (request, response) => {
    const { hostname } = URL.parse(`http://${request.headers.host ?? ''}`) ?? { hostname: '' }
    // a page in a browser of this machine could name another host for this address, and read the answer
    if (isLocal && !isLoopback(hostname))
      return void response.writeHead(403).end('this address is served to loopback only\n')
    const path = request.url?.split('?')[0]
    if (path !== '/metrics' && path !== '/health') return void response.writeHead(404).end('/metrics or /health\n')
    const current = await snapshot()
    if (path === '/metrics') {
      response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }).end(metricsText(current))
      return
    }
    const running = current.states.filter(({ pid }) => pid !== null).length
    const body = { status: running > 0 ? 'ok' : 'unavailable', processes: { running, all: current.states.length } }
    response.writeHead(running > 0 ? 200 : 503, { 'content-type': 'application/json' }).end(`${JSON.stringify(body)}\n`)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(error.code === 'EADDRINUSE' ? new PortTaken(port) : error),
    )
    server.listen(port, host, resolve)
  })
  return {
    port: (server.address() as AddressInfo).port,
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

type Sample = [labels: Record<string, string | number>, value: number, suffix?: string]

/** The counters of a process begin at 0 when it is replaced, as Prometheus expects of a restart. */
function metricsText({ states, metrics, reloads }: Snapshot): string {
  const present = metrics.flatMap((one, process) => (one ? [{ process, ...one }] : []))
  const series = present.flatMap(({ process, series: all }) => all.map((one) => ({ process, ...one })))
  const labelsOf = ({ process, worker, method, status, route }: (typeof series)[number]) => ({
    process,
    worker,
    method,
    status,
    route,
  })
  return [
    family(
      'stack_http_request_duration_seconds',
      'histogram',
      'Time from the request to the head of its answer.',
      series.flatMap((one): Sample[] => {
        const labels = labelsOf(one)
        let sum = 0
        const buckets = durationBounds.map((le, index): Sample => {
          sum += one.buckets[index]!
          return [{ ...labels, le }, sum, '_bucket']
        })
        return [
          ...buckets,
          [{ ...labels, le: '+Inf' }, one.count, '_bucket'],
          [labels, one.seconds, '_sum'],
          [labels, one.count, '_count'],
        ]
      }),
    ),
    family(
      'stack_http_requests_total',
      'counter',
      'Requests that were answered.',
      series.map((one): Sample => [labelsOf(one), one.count]),
    ),
    family(
      'stack_http_requests_in_flight',
      'gauge',
      'Requests without an answer.',
      present.map(({ process, inFlight }): Sample => [{ process }, inFlight]),
    ),
    ...connectionFamilies(present),
    family(
      'stack_process_up',
      'gauge',
      'Whether the process runs.',
      states.map(({ process, pid }): Sample => [{ process }, pid === null ? 0 : 1]),
    ),
    family(
      'stack_process_restarts_total',
      'counter',
      'Starts after the process had ended by itself.',
      states.map(({ process, restarts }): Sample => [{ process }, restarts]),
    ),
    family(
      'stack_reloads_total',
      'counter',
      'Reloads by their result.',
      Object.entries(reloads).map(([result, count]): Sample => [{ result }, count]),
    ),
  ].join('')
}

function connectionFamilies(present: readonly (ProcessMetrics & { process: number })[]): string[] {
  const pools = present.flatMap(({ process, pools: all }) =>
    all.map(({ worker, binding, ...counts }) => ({ labels: { process, worker, binding }, ...counts })),
  )
  return [
    family(
      'stack_database_connections',
      'gauge',
      'Connections to Postgres that are open or being opened.',
      pools.flatMap(({ labels, open, unused }): Sample[] => [
        [{ ...labels, state: 'used' }, open - unused],
        [{ ...labels, state: 'unused' }, unused],
      ]),
    ),
    family(
      'stack_database_connections_max',
      'gauge',
      'Largest number of connections to Postgres.',
      pools.map(({ labels, size }): Sample => [labels, size]),
    ),
    family(
      'stack_database_requests_waiting',
      'gauge',
      'Requests that wait for a connection to Postgres.',
      pools.map(({ labels, waiting }): Sample => [labels, waiting]),
    ),
  ]
}

function family(name: string, type: string, help: string, samples: readonly Sample[]): string {
  const lines = samples.map(([labels, value, suffix = '']) => {
    const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escaped(String(text))}"`)
    return `${name}${suffix}{${pairs.join(',')}} ${value}\n`
  })
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`
}

/** The escapes of Prometheus' text form. */
function escaped(text: string): string {
  return text.replace(/[\\"]/g, '\\$&').replaceAll('\n', '\\n')
}
