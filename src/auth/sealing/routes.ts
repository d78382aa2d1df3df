import { Controller, type HttpError, OptionalUser, Post, Req, RequestId, type UserT } from '@stack/backend'
import { sealingKeyId } from '../../wire/sealing.ts'
import { administering } from '../audit/rows.ts'
import { authError } from '../shared/errors.ts'
import { sealingKeys } from '../shared/seal.ts'
import { type Resealed, Resealing } from './rows.ts'

/** The sealing key is a binding: the deployment changes it, and this route has the stored values follow (contract 9.15). */
@Controller('/v1/management/auth/keys/sealing', { auth: { serviceRole: true } })
export class SealingController {
  constructor(private readonly resealing: Resealing) {}

  /** Seals at most 5,000 values anew. Call it until `sealed` is 0: `remaining` then counts the values that no bound key opens. */
  @Post('rotate')
  async rotate(
    @OptionalUser() operator: UserT | null,
    @Req() request: Request,
    @RequestId() requestId: string,
  ): Promise<Resealed | HttpError> {
    const [present, previous] = sealingKeys()
    const result = await this.resealing.run(await sealingKeyId(present!), administering(operator, request, requestId))
    if (result.unreadable.length === 0 || previous !== undefined) return result
    const { kind, id } = result.unreadable[0]!
    const sentence = `the ${kind} "${id}" and perhaps others do not open: bind the key that sealed them as SEALING_KEY_PREVIOUS`
    return authError('sealing_key_missing', sentence, { body: { ...result } })
  }
}
