import { Controller, Get } from '@stack/backend'
import { SigningKeys } from './rows.ts'

/** Seconds that verifiers and shared caches may keep the key set: verifiers ask at most once in this time (contract 3.2). */
const cacheSeconds = 300

@Controller('/auth/.well-known', { auth: false })
export class KeySetController {
  constructor(private readonly keys: SigningKeys) {}

  /** The public halves of the signing keys, as a JSON Web Key Set (RFC 7517 section 5). */
  @Get('jwks.json')
  async keySet(): Promise<Response> {
    const headers = { 'cache-control': `public, max-age=${cacheSeconds}` }
    return Response.json({ keys: await this.keys.published() }, { headers })
  }
}
