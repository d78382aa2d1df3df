import { Body, Controller, Database, Get, Log, OptionalUser, Post, Req, RequestId, type UserT } from '@stack/backend'
import type * as v from 'valibot'
import { sealingKeyId } from '../../wire/sealing.ts'
import { rotationLine } from '../../wire/secrets.ts'
import { Audit, administering } from '../audit/rows.ts'
import { type JsonResponse, jsonResponse } from '../shared/answer.ts'
import { type Listed, whole } from '../shared/list.ts'
import { sealingKeys } from '../shared/seal.ts'
import { ClaimsKeys, type ClaimsRotation } from './claims.ts'
import { type KeyRecord, rotationBody } from './overlap.ts'
import { type Rotation, SigningKeys } from './rows.ts'
import { ServiceRoleKeys, type ServiceRoleRotation } from './service-role.ts'

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

/** Seconds that the previous key of the claims is accepted: every worker asks for new keys once in 5 s. */
const claimsOverlap = 3_600
/** Seconds that the previous service-role key is accepted: people replace it in their own places within a day. */
const serviceRoleOverlap = 86_400

const ClaimsRotationBody = rotationBody(claimsOverlap)
const ServiceRoleRotationBody = rotationBody(serviceRoleOverlap)

/** The keys of the environment, for those who administer it (contract 9.15). */
@Controller('/v1/management/auth/keys', { auth: { serviceRole: true } })
export class KeysController {
  constructor(
    private readonly audit: Audit,
    private readonly claims: ClaimsKeys,
    private readonly serviceRole: ServiceRoleKeys,
    private readonly signing: SigningKeys,
  ) {}

  /** Every key by its kind, with its state and its end. No key is part of the answer. */
  @Get()
  async list(): Promise<Listed<KeyRecord>> {
    const kinds = [
      await this.signing.list(),
      await this.claims.list(),
      await this.serviceRole.list(),
      await sealingKeyRecords(),
    ]
    return whole(kinds.flat())
  }

  /** The next key takes over as soon as every verifier can know it. Tokens of the previous one stay valid until they expire. */
  @Post('signing/rotate')
  async rotateSigning(
    @OptionalUser() operator: UserT | null,
    @Req() request: Request,
    @RequestId() requestId: string,
  ): Promise<Rotation> {
    const { rotation, isNew } = await this.signing.rotate()
    const { kid, ...details } = rotation
    if (isNew) await this.note('signing', kid, details, administering(operator, request, requestId))
    return rotation
  }

  /** SQL accepts the new key at once, and the previous one until the overlap ends. The workers have the new one within 5 s. */
  @Post('claims/rotate')
  async rotateClaims(
    @Body(ClaimsRotationBody) { overlap_seconds }: v.InferOutput<typeof ClaimsRotationBody>,
    @OptionalUser() operator: UserT | null,
    @Req() request: Request,
    @RequestId() requestId: string,
  ): Promise<ClaimsRotation> {
    const { rotation, isNew } = await this.claims.rotate(overlap_seconds)
    const { id, ...details } = rotation
    if (isNew) await this.note('claims', id, details, administering(operator, request, requestId))
    return rotation
  }

  /** The only answer with a key in it, for a caller with the service-role key. The backend worker gets it with the mirror of the vault. */
  @Post('service-role/rotate')
  async rotateServiceRole(
    @Body(ServiceRoleRotationBody) { overlap_seconds }: v.InferOutput<typeof ServiceRoleRotationBody>,
    @OptionalUser() operator: UserT | null,
    @Req() request: Request,
    @RequestId() requestId: string,
  ): Promise<ServiceRoleRotation> {
    const { key, ...rotation } = await this.serviceRole.rotate(overlap_seconds)
    const { id, ...details } = rotation
    await this.note('service_role', id, details, administering(operator, request, requestId))
    Database.$afterCommit(async () => Log.info(rotationLine, { ...rotation }))
    return { key: operator ? null : key, ...rotation }
  }

  /** Ids and times alone: an entry never holds a key. */
  private note(
    kind: KeyRecord['kind'],
    id: string,
    details: object,
    by: ReturnType<typeof administering>,
  ): Promise<void> {
    return this.audit.record({
      event: 'key.rotated',
      ...by,
      target: { type: 'key', id },
      details: { kind, ...details },
    })
  }
}

/** The bindings that seal. Their ids are those that sealed values begin with. */
async function sealingKeyRecords(): Promise<KeyRecord[]> {
  const ids = await Promise.all(sealingKeys().map(sealingKeyId))
  return ids.map((id, index) => ({
    kind: 'sealing',
    id,
    state: index === 0 ? 'current' : 'previous',
    source: 'binding',
    created_at: null,
    valid_until: null,
  }))
}
