import { Injectable, Log } from '@stack/backend'
import type { Settings } from '../../wire/settings.ts'
import { authError } from '../shared/errors.ts'

/** Milliseconds that a sign-up waits for the service. */
const waitMs = 2_000
/** Bytes of an answer that are read. A range of the largest public service has about 40 KiB. */
const largestAnswer = 262_144

/**
 * Refuses passwords that are known from breaches, by k-anonymity: the service gets 5 of the 40 hexadecimal digits of a SHA-1, and
 * answers the rest of every digest that begins so, a line each (`<35 digits>:<count>`). Off unless the settings name a service.
 */
@Injectable()
export class Breaches {
  /** Where the service fails, every password is taken, and the log says so. @throws HttpError 400 `invalid_password` */
  async refuse(password: string, { breach_check_url: service }: Settings): Promise<void> {
    if (service === undefined) return
    const digest = new Uint8Array(await crypto.subtle.digest('SHA-1', new TextEncoder().encode(password)))
    const digits = Array.from(digest, (byte) => byte.toString(16).padStart(2, '0'))
      .join('')
      .toUpperCase()
    let lines: string[]
    try {
      lines = await rangeOf(service, digits.slice(0, 5))
    } catch (error) {
      return Log.warn('the check for breached passwords failed: the password is taken unchecked', { error })
    }
    // services add lines with a count of 0, so that the length of an answer tells nothing
    const isKnown = lines.some((line) => line.toUpperCase().startsWith(`${digits.slice(5)}:`) && !/:0+\s*$/.test(line))
    if (!isKnown) return
    const reason = 'this password is known from a breach: choose another one'
    throw authError('invalid_password', reason, { fields: [{ path: 'password', reason }] })
  }
}

async function rangeOf(service: string, prefix: string): Promise<string[]> {
  const address = `${service.replace(/\/+$/, '')}/${prefix}`
  const signal = AbortSignal.timeout(waitMs)
  const response = await fetch(address, { headers: { 'add-padding': 'true' }, redirect: 'manual', signal })
  if (response.status !== 200 || !response.body) throw new Error(`the service answered ${response.status}`)
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of response.body) {
    text += decoder.decode(chunk, { stream: true })
    if (text.length > largestAnswer) throw new Error(`the answer has more than ${largestAnswer} bytes`)
  }
  return text.split('\n')
}
