import {
  Body,
  Controller,
  Database,
  Delete,
  HttpError,
  OptionalUser,
  Param,
  Post,
  Req,
  RequestId,
  type UserT,
} from '@stack/backend'
import * as v from 'valibot'
import { Audit, administering } from '../auth/audit/rows.ts'
import { challengeFault, issueChallenge } from '../auth/devices/challenge.ts'
import { Enrolment } from '../auth/devices/enrolment.ts'
import { requireApp } from '../auth/devices/routes.ts'
import { applicationKey, attestation, binary, certificates, challenge } from '../auth/devices/schemas.ts'
import { clientOf } from '../auth/shared/client.ts'
import { strictObject } from '../auth/shared/strict-object.ts'
import { DebugTokens } from './tokens.ts'
import { verifyRecorded, verifySoftwareKey } from './verification.ts'

const about = { platform: v.picklist(['ios', 'android']), application_key: applicationKey }

const challengeRequest = strictObject(about)

const recorded = strictObject({
  challenge: binary(256),
  /** Unix time in milliseconds at which the attestation was made. */
  at: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(4_102_444_800_000)),
  attestation: v.optional(attestation),
  certificates: v.optional(certificates),
  roots: v.optional(v.pipe(v.array(binary(8_192)), v.maxLength(2)), []),
})

const enrolment = strictObject({
  ...about,
  challenge,
  debug_token: v.optional(v.pipe(v.string(), v.maxLength(100))),
  proof: v.union([strictObject({ public_key: binary(65), signature: binary(80) }), strictObject({ recorded })]),
})

const issue = strictObject({
  days: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(30, 'a token lives for 30 days at most')),
  label: v.optional(v.pipe(v.string(), v.trim(), v.maxLength(100)), ''),
})

/** Devices of keys that no hardware holds. Their environment is `debug`, which a database of production refuses. */
@Controller('/auth/devices/debug', { auth: false })
export class DebugDevicesController {
  constructor(
    private readonly enrolment: Enrolment,
    private readonly tokens: DebugTokens,
  ) {}

  /** A challenge for a debug key, whose application the settings need not have. */
  @Post('challenge')
  async challenge(
    @Body(challengeRequest) { platform, application_key: applicationKey }: v.InferOutput<typeof challengeRequest>,
  ): Promise<{ challenge: string; expires_at: Date }> {
    const { userId } = await this.enrolment.begin()
    return issueChallenge({ userId, applicationKey, platform })
  }

  @Post('', { status: 201 })
  async enrol(
    @Body(enrolment) body: v.InferOutput<typeof enrolment>,
    @Req() request: Request,
    @RequestId() requestId: string,
  ): Promise<Response | HttpError> {
    const { platform, application_key: applicationKey, challenge, proof } = body
    const admitted = await this.enrolment.admit()
    const { userId, settings, environments } = admitted
    if (!(await Database.$apart((sql) => this.tokens.isGood(body.debug_token, sql)))) {
      throw new HttpError(
        403,
        'forbidden',
        'a debug token that is good is required: an operator issues one for at most 30 days',
      )
    }
    const attested = await this.enrolment.verified(async () => {
      if (!environments.includes('debug')) return { reason: 'wrong_environment' }
      const fault = await challengeFault(challenge, { userId, applicationKey, platform })
      if (fault) return { reason: fault }
      if ('recorded' in proof) return verifyRecorded(proof.recorded, requireApp(settings, applicationKey, platform))
      return verifySoftwareKey(challenge, proof.public_key, proof.signature)
    })
    return this.enrolment.finish(admitted, { platform, applicationKey }, attested, clientOf(request, requestId))
  }
}

/** Tokens for pipelines that enrol debug devices in a stack that is not local. */
@Controller('/v1/management/auth/debug-device-tokens', { auth: { serviceRole: true } })
export class DebugTokensController {
  constructor(
    private readonly audit: Audit,
    private readonly tokens: DebugTokens,
  ) {}

  /** The token is in this answer alone. */
  @Post('', { status: 201 })
  async issue(
    @Body(issue) { days, label }: v.InferOutput<typeof issue>,
    @OptionalUser() operator: UserT | null,
    @Req() request: Request,
    @RequestId() requestId: string,
  ): Promise<{ id: string; token: string; expires_at: Date }> {
    const issued = await this.tokens.issue(label, days)
    await this.note('device.debug_token_issued', issued.id, administering(operator, request, requestId))
    return issued
  }

  @Delete(':id')
  async remove(
    @Param('id') id: string,
    @OptionalUser() operator: UserT | null,
    @Req() request: Request,
    @RequestId() requestId: string,
  ): Promise<void> {
    if (!(await this.tokens.remove(id))) return
    await this.note('device.debug_token_revoked', id, administering(operator, request, requestId))
  }

  private note(
    event: 'device.debug_token_issued' | 'device.debug_token_revoked',
    id: string,
    by: ReturnType<typeof administering>,
  ): Promise<void> {
    return this.audit.record({ event, ...by, target: { type: 'secret', id } })
  }
}
