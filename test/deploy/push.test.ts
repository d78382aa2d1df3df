/** `stack push` end to end: against a stand-in of Cloudflare, and a Postgres whose owner is no superuser. */
import * as fs from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type PushSetting, usePush } from '../support/push.ts'

const test: PushSetting = usePush('examples/orders')

describe('a first push', () => {
  it('deploys', async () => {
    const { code, stdout, stderr } = await test.push()
    console.log(stderr, stdout)
    for (const call of test.platform.calls) console.log(call.method, call.path)
    expect(code).toBe(0)
  }, 120_000)
})
