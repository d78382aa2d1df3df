import { Controller, Get, Query } from '@stack/backend'
import { ipAddress } from '../shared/client.ts'
import { filterFault, type Listed, pageOf, requireOneOf } from '../shared/list.ts'
import { type AuditEntry, AuditTrail, eventTypesOf } from './trail.ts'

/** Largest number of types of events in one filter: there are fewer kinds, and each is one read of an index. */
const mostTypes = 100

/** RFC 3339, with seconds and a zone. */
const time = /^(\d{4}-\d\d-\d\d)T\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/i

/** The audit trail, for those who administer the stack (contract 9.4, 9.16). */
@Controller('/v1/management/auth/audit', { auth: { serviceRole: true } })
export class AuditController {
  constructor(private readonly trail: AuditTrail) {}

  /** The newest entry first. `event_type` is a list separated by commas, with `session.*` for every event of sessions. */
  @Get()
  async list(
    @Query('limit') limit: string | undefined,
    @Query('cursor') cursor: string | undefined,
    @Query('event_type') event_type: string | undefined,
    @Query('actor_id') actor_id: string | undefined,
    @Query('target_id') target_id: string | undefined,
    @Query('outcome') outcome: string | undefined,
    @Query('ip') ip: string | undefined,
    @Query('from') from: string | undefined,
    @Query('to') to: string | undefined,
  ): Promise<Listed<AuditEntry>> {
    const types = event_type === undefined ? undefined : eventTypesOf(event_type)
    if (types && types.length > mostTypes) throw filterFault('event_type', `it has at most ${mostTypes} types`)
    const address = ip === undefined ? undefined : ipAddress(ip)
    if (ip !== undefined && address === undefined) throw filterFault('ip', 'it is an IPv4 or IPv6 address')
    const filters = {
      event_type: types,
      actor_id,
      target_id,
      outcome: requireOneOf('outcome', outcome, ['success', 'failure']),
      ip: address,
      from: timeOf('from', from),
      to: timeOf('to', to),
    }
    const page = await pageOf(
      'audit',
      { limit, cursor },
      { ...filters, event_type: types?.join(), from: filters.from?.toISOString(), to: filters.to?.toISOString() },
    )
    return this.trail.list(filters, page)
  }
}

/** @throws HttpError 400 `invalid_request` for a text that is no time of 1970 or later. */
function timeOf(name: string, text: string | undefined): Date | undefined {
  if (text === undefined) return undefined
  const [, day] = time.exec(text) ?? []
  const moment = new Date(day === undefined ? Number.NaN : text)
  // Date takes 30 February for 2 March
  const isDay = day !== undefined && new Date(`${day}T00:00:00Z`).toJSON()?.startsWith(day)
  if (isDay && moment.getTime() >= 0) return moment
  throw filterFault(name, 'it is a time like 2026-01-31T12:00:00Z')
}
