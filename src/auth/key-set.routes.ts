import { Controller, Get } from '@stack/backend'
import { SigningKeys } from './signing-keys.rows.ts'

@Controller('/auth/.well-known', { auth: false })
export class KeySetController {
  constructor(private readonly keys: SigningKeys) {}

  /** Verifiers ask at most once every five minutes, so may everybody between. */
  @Get('jwks.json')
  async keySet(): Promise<Response> {
    return Response.json({ keys: await this.keys.published() }, { headers: { 'cache-control': 'public, max-age=300' } })
  }
}
