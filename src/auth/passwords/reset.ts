import { Body, Controller, Post, Req, RequestId } from '@stack/backend'
import type * as v from 'valibot'
import { clientOf } from '../shared/client.ts'
import { ForgottenPasswords } from './forgotten.ts'
import { forgotten, resetBody } from './schemas.ts'

/** A password that was forgotten: a mail is sent, and what comes back with it sets another one. */
@Controller('/auth/password', { auth: false })
export class PasswordResetController {
  constructor(private readonly passwords: ForgottenPasswords) {}

  @Post('forgot', { status: 202 })
  async forgot(
    @Body(forgotten) { email }: v.InferOutput<typeof forgotten>,
    @Req() request: Request,
    @RequestId() requestId: string,
  ): Promise<{ status: 'sent' }> {
    await this.passwords.request(email, clientOf(request, requestId))
    return { status: 'sent' }
  }

  @Post('reset')
  async reset(
    @Body(resetBody) body: v.InferOutput<typeof resetBody>,
    @Req() request: Request,
    @RequestId() requestId: string,
  ): Promise<{ status: 'reset' }> {
    const presented = 'token' in body ? { token: body.token } : { target: body.email, code: body.code }
    const replacement = await this.passwords.prepare(presented, body.password)
    await this.passwords.replace(replacement, clientOf(request, requestId))
    return { status: 'reset' }
  }
}
