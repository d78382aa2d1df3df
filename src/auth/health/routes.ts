import { Controller, Database, Get, Log } from '@stack/backend'
import { type JsonResponse, jsonResponse } from '../shared/answer.ts'
import { lastMigration } from './migrations.ts'

/** What a load balancer reads: no secret, no version, no name of a host. */
interface Health {
  status: 'ok' | 'unavailable'
  database: 'ok' | 'unreachable'
  migrations: 'current' | 'pending' | 'unknown'
}

@Controller('/auth/health', { auth: false })
export class HealthController {
  /** 200 where requests can be served, else 503 (contract 9.13). */
  @Get()
  async read(): Promise<JsonResponse<Health>> {
    const health = await readHealth()
    const headers = { 'cache-control': 'no-store', ...(health.status === 'ok' ? {} : { 'retry-after': '1' }) }
    return jsonResponse(health, { status: health.status === 'ok' ? 200 : 503, headers })
  }
}

async function readHealth(): Promise<Health> {
  try {
    const applied = await Database.$apart(
      (sql) => sql`select from stack.migrations where set_name = 'auth' and name = ${lastMigration}`,
    )
    if (applied.length > 0) return { status: 'ok', database: 'ok', migrations: 'current' }
    return { status: 'unavailable', database: 'ok', migrations: 'pending' }
  } catch (error) {
    Log.warn('the health check does not reach the database', { error })
    return { status: 'unavailable', database: 'unreachable', migrations: 'unknown' }
  }
}
