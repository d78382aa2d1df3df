/** Bodies of the auth module: a list is no object (contract 9.10), although valibot takes an empty one for it. */
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { strictObject, withoutLists } from '../../src/auth/shared/strict-object.ts'

const body = strictObject({ mode: v.optional(v.literal('email')) })
const values = withoutLists(v.record(v.string(), v.string()))

describe('an object whose fields are all optional', () => {
  it.each([{}, { mode: 'email' }])('%j is one', (given) => {
    expect(v.safeParse(body, given)).toMatchObject({ success: true, output: given })
    expect(body['~standard'].validate(given)).toMatchObject({ value: given })
  })

  it.each([[[]], [[{}]], [null], ['x'], [{ mode: 'other' }], [{ extra: 1 }]])('%j is none', (given) => {
    expect(v.safeParse(body, given).success).toBe(false)
    expect(body['~standard'].validate(given)).toHaveProperty('issues')
  })

  it('inside another object, too', () => {
    const outer = strictObject({ inner: body, values })
    expect(v.safeParse(outer, { inner: {}, values: {} }).success).toBe(true)
    expect(v.safeParse(outer, { inner: [], values: {} }).success).toBe(false)
    expect(v.safeParse(outer, { inner: {}, values: [] }).success).toBe(false)
  })
})
