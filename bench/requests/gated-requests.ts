/** The requests of the two gated routes, with their expected answers. */
import type { Requests } from '../load.ts'
import { request } from './asking.ts'
import { oldestNotes } from './database.ts'

export type GatedRequests = Record<'read' | 'write', Pick<Requests, 'requests' | 'expected'>>

export function gatedRequests(token: string): GatedRequests {
  const note = '{"text":"one more"}'
  return {
    read: {
      requests: [request('GET', '/notes', token)],
      expected: { status: 200, body: JSON.stringify(oldestNotes) },
    },
    write: {
      requests: [request('POST', '/notes', token, note)],
      expected: { status: 201, body: note },
    },
  }
}
