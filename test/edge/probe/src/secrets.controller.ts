import { env } from 'cloudflare:workers'
import { Controller, Get, Param, Secrets } from '@stack/backend'

type Variables = Record<string, string | undefined>

/** Read as a library reads it, before any request. */
const early = variables()['VAULT_EARLY']

function variables(): Variables {
  return (globalThis as unknown as { process: { env: Variables } }).process.env
}

@Controller('secrets', { auth: false })
export class SecretsController {
  /** Whatever way a handler reads its environment. */
  @Get(':name')
  read(@Param('name') name: string) {
    return {
      secret: attempt(() => Secrets.get(name)),
      process: variables()[name] ?? null,
      env: (env as Variables)[name] ?? null,
      early: early ?? null,
    }
  }
}

function attempt(work: () => string): string | null {
  try {
    return work()
  } catch {
    return null
  }
}
