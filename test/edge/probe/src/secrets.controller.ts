import { env } from 'cloudflare:workers'
import { Controller, Get, Param, Secrets } from '@stack/backend'

type Variables = Record<string, string | undefined>

/** Read before any request, as a library would read it. */
const early = variables()['VAULT_EARLY']

function variables(): Variables {
  return (globalThis as unknown as { process: { env: Variables } }).process.env
}

@Controller('secrets', { auth: false })
export class SecretsController {
  /** Answers a secret in every way that a handler can read its environment. */
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
