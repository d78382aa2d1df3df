import { Controller, Get, OptionalUser, Post, Req, RequestId, type UserT } from '@stack/backend'
import { Audit, actorOf } from '../audit/rows.ts'
import { type JsonResponse, jsonResponse } from '../shared/answer.ts'
import { clientOf } from '../shared/client.ts'
import { type Rotation, SigningKeys } from './rows.ts'

/** Seconds that verifiers and shared caches may keep the key set: verifiers ask at most once in this time (contract 3.2). */
const cacheSeconds = 300

@Controller('/auth/.well-known', { auth: false })
export class KeySetController {
  constructor(private readonly keys: SigningKeys) {}

  /** The public halves of the signing keys, as a JSON Web Key Set (RFC 7517 section 5). */
  @Get('jwks.json')
  async keySet(): Promise<JsonResponse<{ keys: object[] }>> {
    const headers = { 'cache-control': `public, max-age=${cacheSeconds}` }
    return jsonResponse({ keys: await this.keys.published() }, { headers })
  }
}

/** The keys of the environment, for those who administer it (contract 9.15). */
@Controller('/v1/management/auth/keys', { auth: { serviceRole: true } })
export class KeysController {
  constructor(
    private readonly audit: Audit,
    private readonly keys: SigningKeys,
  ) {}

  /** The next key takes over as soon as every verifier can know it. Tokens of the previous one stay valid until they expire. */
  @Post('signing/rotate')
  async rotateSigning(
    @OptionalUser() operator: UserT | null,
    @Req() request: Request,
    @RequestId() requestId: string,
  ): Promise<Rotation> {
    const { rotation, isNew } = await this.keys.rotate()
    if (!isNew) return rotation
    await this.audit.record({
      event: 'key.rotated',
      actor: actorOf(operator),
      target: { type: 'key', id: rotation.kid },
      client: clientOf(request, requestId),
      details: { signs_from: rotation.signs_from, previous_kid: rotation.previous_kid },
    })
    return rotation
  }
}
