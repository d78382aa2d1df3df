/** Calls of the management surface, for tests that administer a stack. */
import * as fs from 'node:fs'
import path from 'node:path'
import { packageRoot } from './command.ts'
import type { Answer, CallOptions, TestStack } from './stack.ts'

const management = '/v1/management/auth'

export interface Administration {
  /** With the service-role key. @param address below the management surface, with its query. */
  call(method: string, address: string, json?: unknown, options?: CallOptions): Promise<Answer>
  /** The entries about a target, the oldest first. */
  entries(target: string): Promise<{ event_type: string; [column: string]: unknown }[]>
  /** Every row of a list, page by page. `between` runs after each page. */
  pages(address: string, between?: () => Promise<unknown>): Promise<Answer['json'][]>
  /** Signs up a user and puts them on the list of operators. */
  operator(): Promise<{ id: string; token: string }>
}

export function administer(stack: TestStack): Administration {
  const admin: Administration = {
    call: (method, address, json, { headers, ...options } = {}) =>
      stack.call(`${management}${address}`, {
        method,
        ...(json === undefined ? {} : { json }),
        headers: { apikey: stack.stack.record.service_role_key, ...headers },
        ...options,
      }),
    entries: (target) => stack.sql('select * from stack.audit where target_id = $1 order by id', [target]),
    async pages(address, between) {
      const rows: Answer['json'][] = []
      let cursor = ''
      do {
        const { status, json } = await admin.call('GET', `${address}${cursor}`)
        if (status !== 200) throw new Error(`${address} answered ${status}: ${JSON.stringify(json)}`)
        rows.push(...json.data)
        if (json.has_more !== (json.next_cursor !== null)) throw new Error('has_more and next_cursor disagree')
        cursor = json.next_cursor === null ? '' : `${address.includes('?') ? '&' : '?'}cursor=${json.next_cursor}`
        await between?.()
      } while (cursor !== '')
      return rows
    },
    async operator() {
      const { id, refreshToken } = await stack.signUp()
      await admin.call('PUT', `/operators/${id}`)
      const { json } = await stack.call('/auth/token/refresh', { json: { refresh_token: refreshToken } })
      return { id, token: json.access_token }
    },
  }
  return admin
}

const file = path.resolve(packageRoot, '../shared/vectors/naughty-strings.json')

/** The public list of naughty strings. It is empty where it is not beside this repository. */
export const naughtyStrings: string[] = fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, 'utf8')).strings : []
