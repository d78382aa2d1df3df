/** Gates at every level, through the real bundle (contract 4). */
import { describe, expect, it } from 'vitest'
import { type Person, useStack } from '../../support/stack.ts'

const probe = useStack('test/edge/probe', { PROBE_SECRET: 'äöü' })

describe('4.3 the most specific rule wins, whole', () => {
  const enter = (path: string, person?: Person) => probe.call(path, person ? { token: person.token } : {})

  it('the application default gates a controller that declares nothing', async () => {
    const person = await probe.signUp()
    expect((await enter('/default')).status).toBe(401)
    expect((await enter('/default', person)).json.error_description).toBe(
      'this route requires the permission "probe.enter"',
    )
    await probe.role('PUT', person.id, 'insider')
    expect((await enter('/default', person)).json).toBe('entered')
  })

  it('a controller’s rule replaces the default, a route’s rule replaces its controller’s', async () => {
    const person = await probe.signUp()
    expect((await enter('/gates/controller', person)).json.error).toBe('email_not_verified')
    expect((await enter('/gates/signed-in', person)).status).toBe(200)
    expect((await enter('/gates/object', person)).status).toBe(200)
    expect((await enter('/gates/object')).status).toBe(401)
    expect((await enter('/gates/false')).json).toEqual({ user: null })
    expect((await enter('/gates/not-required')).json).toBe('entered')
  })

  it('4.5 `required: false` beside a condition admits no anonymous caller, and answers 403', async () => {
    expect((await enter('/open/permission')).json).toMatchObject({ error: 'forbidden', status: 403 })
    expect((await enter('/open/role')).json).toMatchObject({ error: 'forbidden', status: 403 })
    expect((await enter('/open/verified')).json).toMatchObject({ error: 'email_not_verified', status: 403 })
    const person = await probe.signUp()
    await probe.role('PUT', person.id, 'insider')
    expect((await enter('/open/role', person)).json).toBe('entered')
  })

  it('User() is the user of the token, with the roles of this moment', async () => {
    const person = await probe.signUp()
    await probe.role('PUT', person.id, 'insider')
    expect((await enter('/gates/signed-in', person)).json).toEqual({
      id: person.id,
      email: person.email,
      role: 'authenticated',
      emailVerified: false,
      metadata: {},
      roles: ['insider'],
      device: null,
    })
  })
})
