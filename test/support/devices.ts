/** Debug devices of a test's stack, and requests that they sign. */
import {
  type DebugDevice,
  type DebugDeviceOptions,
  enrolDebugDevice,
  type SignedRequest,
} from '../../cli/shared/debug-device.ts'
import type { Answer, CallOptions, Person, TestStack } from './stack.ts'

/** Enrols a debug device of the person. */
export function enrolDevice(
  stack: TestStack,
  { token }: Pick<Person, 'token'>,
  options: Partial<DebugDeviceOptions> = {},
): Promise<DebugDevice> {
  return enrolDebugDevice({ baseUrl: stack.url, accessToken: token, ...options })
}

interface AssertedCall extends CallOptions {
  token: string
  /** Parts of the request that the device signs otherwise than they are sent. */
  signs?: Partial<SignedRequest>
}

/** Sends a request that the device has signed. */
export function callAsserted(
  stack: TestStack,
  device: DebugDevice,
  path: string,
  options: AssertedCall,
): Promise<Answer> {
  const { signs, ...call } = options
  return stack.call(path, {
    ...call,
    headers: { ...call.headers, 'device-assertion': assertionOf(device, path, options) },
  })
}

/** The header of such a request. */
export function assertionOf(device: DebugDevice, path: string, { signs, ...options }: AssertedCall): string {
  const text =
    options.json === undefined ? (options.body as string | Uint8Array | undefined) : JSON.stringify(options.json)
  const method = options.method ?? (text === undefined ? 'GET' : 'POST')
  return device.assertionFor({ method, target: path, body: text, accessToken: options.token, ...signs })
}
