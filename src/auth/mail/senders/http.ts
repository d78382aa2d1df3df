/** Posts messages as JSON to a gateway. */
import type { Message } from '../../../wire/message.ts'
import { oneLine, SendFailed, sendMs } from './failure.ts'

/**
 * Statuses of a gateway that is busy or not reachable: another attempt may succeed. So may one after a wrong credential or a wrong
 * address was replaced. A redirect tells such an address. It is not followed, because the message holds a code.
 */
const passing = new Set([401, 403, 404, 408, 425, 429])

/** @param token sent as a Bearer token. @throws SendFailed unless the answer's status is 2xx. */
export async function sendByHttp(message: Message, url: string, token: string | undefined): Promise<void> {
  const headers = { 'content-type': 'application/json', ...(token ? { authorization: `Bearer ${token}` } : {}) }
  const signal = AbortSignal.timeout(sendMs)
  let response: Response
  try {
    response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(message), redirect: 'manual', signal })
  } catch (error) {
    throw new SendFailed(`the gateway does not answer: ${oneLine(String(error))}`, false)
  }
  const { status } = response
  await response.body?.cancel()
  if (status >= 200 && status < 300) return
  throw new SendFailed(`the gateway answered ${status}`, status >= 400 && status < 500 && !passing.has(status))
}
