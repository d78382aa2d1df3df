/** A local stack with its owner's connection, and requests to its management surface. */
import * as fs from 'node:fs'
import path from 'node:path'
import pg from 'pg'
import { databaseUrls } from '../../local/database.ts'
import { stackFiles } from '../../local/files.ts'
import { type Keys, keysAt } from '../../local/keys.ts'
import { findPort } from '../../local/ports.ts'
import { startStack } from '../../local/start.ts'
import { writeProject } from '../availability/project.ts'
import { type Connection, connect } from '../connection.ts'

export interface ManagedStack {
  keys: Keys
  owner: pg.Client
  ownerUrl: string
  /** URL of the login with which the auth worker reads and writes. */
  authUrl: string
  /** Sends a request with the service-role key, over one connection that is kept. @throws Error for an answer that is no success. */
  send(method: 'GET' | 'PUT', target: string, json?: object): Promise<string>
  stop(): Promise<void>
}

/** @param folder an empty folder. */
export async function startManagedStack(folder: string): Promise<ManagedStack> {
  fs.mkdirSync(folder)
  const given = { root: folder, project: writeProject(folder), roles: [], templates: [], variables: {}, fresh: false }
  const stack = await startStack(
    { ...given, port: await findPort(), say: () => {}, onLog: () => {} },
    new AbortController().signal,
  )
  // Postgres is in a process group of its own, which Ctrl-C in a terminal does not reach.
  const interrupted = () => void stack.stop().finally(() => process.exit(130))
  process.once('SIGINT', interrupted)
  const { base_url, service_role_key, database_url } = stack.record
  const owner = new pg.Client(database_url)
  await owner.connect()
  // the server ends a connection that is idle while tables are filled
  let connection: Promise<Connection> | undefined
  const keys = keysAt(stackFiles(path.resolve(folder)).keys)
  return {
    keys,
    owner,
    ownerUrl: database_url,
    authUrl: databaseUrls(Number(new URL(database_url).port), keys).auth,
    async send(method, target, json) {
      connection ??= connect(Number(new URL(base_url).port))
      const { status, body } = await (await connection).ask([requestOf(method, target, service_role_key, json)])
      if (status < 200 || status > 299) throw new Error(`${method} ${target} answered ${status} ${body}`)
      return body
    },
    async stop() {
      process.off('SIGINT', interrupted)
      await connection?.then((open) => open.close())
      await owner.end()
      await stack.stop()
    },
  }
}

function requestOf(...[method, target, apikey, json]: [string, string, string, object | undefined]): Buffer {
  const body = json === undefined ? '' : JSON.stringify(json)
  const lines = [
    `${method} ${target} HTTP/1.1`,
    'host: 127.0.0.1',
    `apikey: ${apikey}`,
    ...(body === '' ? [] : ['content-type: application/json', `content-length: ${Buffer.byteLength(body)}`]),
  ]
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`)
}
