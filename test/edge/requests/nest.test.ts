/**
 * The application of `test/build/nest` in workerd. Each expected answer is the one that it gave under NestJS. Only errors have
 * another form, and a method that a path lacks is 405 instead of 404.
 */
import { expect, it } from 'vitest'
import { useStack } from '../../support/stack.ts'

const port = useStack('test/build/nest')

/** The first cat. One instance serves the whole file, so each test continues with the state of the one before. */
const ada = { id: 1, name: 'Ada' }
const tom = { id: 2, source: 'shelter', name: 'Tom', age: 3, breed: 'tabby' }
const mia = { id: 3, source: 'unknown', name: 'Mia', age: 1, breed: 'unknown' }

async function answer(method: string, path: string, json?: unknown, headers: Record<string, string> = {}) {
  const { status, json: body, text } = await port.call(path, { method, json, headers })
  return [status, text === '' ? undefined : body]
}

it('creates what a body describes, numbered by one provider for both modules, with a header and a default', async () => {
  expect(await answer('GET', '/cats')).toEqual([200, []])
  expect(await answer('POST', '/owners', { name: 'Ada' })).toEqual([201, ada])
  const cat = { name: 'Tom', age: 3, breed: 'tabby' }
  expect(await answer('POST', '/cats', cat, { 'x-source': 'shelter' })).toEqual([201, tom])
  expect(await answer('POST', '/cats', { name: 'Mia', age: 1 })).toEqual([201, mia])
})

it('lists, by a query too, whose text a schema converts', async () => {
  expect(await answer('GET', '/cats')).toEqual([200, [tom, mia]])
  expect(await answer('GET', '/cats?breed=tabby')).toEqual([200, [tom]])
  expect(await answer('GET', '/cats?limit=1')).toEqual([200, [tom]])
  expect(await answer('GET', '/owners')).toEqual([200, [ada]])
})

it('answers one by its number, and HEAD without it', async () => {
  expect(await answer('GET', '/cats/2')).toEqual([200, tom])
  expect(await answer('GET', '/owners/1')).toEqual([200, ada])
  expect(await answer('HEAD', '/cats/2')).toEqual([200, undefined])
})

it('answers what is not there with 404 and its sentence', async () => {
  const missing = { error: 'not_found', error_description: 'there is no cat 99' }
  expect(await answer('GET', '/cats/99')).toEqual([404, expect.objectContaining(missing)])
})

it('answers 400 with every field that a schema refuses, of a body, a query and a path', async () => {
  const refused = (...paths: string[]) =>
    expect.objectContaining({
      error: 'invalid_request',
      fields: paths.map((path) => ({ path, reason: expect.any(String) })),
    })
  expect(await answer('POST', '/cats', { name: '', age: 'three' })).toEqual([400, refused('name', 'age')])
  expect(await answer('GET', '/cats?limit=0')).toEqual([400, refused('limit')])
  expect(await answer('GET', '/cats/tom')).toEqual([400, refused('id')])
})

it('replaces and changes', async () => {
  const replaced = { ...mia, age: 2, breed: 'siamese' }
  expect(await answer('PUT', '/cats/3', { name: 'Mia', age: 2, breed: 'siamese' })).toEqual([200, replaced])
  expect(await answer('PATCH', '/cats/3', { age: 4 })).toEqual([200, { ...replaced, age: 4 }])
})

it('asks the provider of another module, and answers with the status of the route', async () => {
  expect(await answer('POST', '/cats/2/adoption', { owner: 1 })).toEqual([202, { ...tom, owner: 'Ada' }])
  const missing = expect.objectContaining({ error_description: 'there is no owner 99' })
  expect(await answer('POST', '/cats/2/adoption', { owner: 99 })).toEqual([404, missing])
})

it('answers nothing with 204', async () => {
  expect(await answer('DELETE', '/cats/3')).toEqual([204, undefined])
  expect((await answer('DELETE', '/cats/3'))[0]).toBe(404)
})

it('answers 405 with what the path has', async () => {
  const { status, headers } = await port.call('/cats', { method: 'PUT', json: {} })
  expect([status, headers.get('allow')]).toEqual([405, 'GET, HEAD, POST, OPTIONS'])
})

it('kept a record of it all in one instance, which both modules were given', async () => {
  const at = expect.stringMatching(/^\d{4}-\d\d-\d\dT/)
  expect(await answer('GET', '/audit?action=cat.adopted')).toEqual([200, [{ at, action: 'cat.adopted', id: 2 }]])
  const [, entries] = await answer('GET', '/audit')
  expect(entries.map(({ action, id }: { action: string; id: number }) => `${action} ${id}`)).toEqual([
    'owner.created 1',
    'cat.created 2',
    'cat.created 3',
    'cat.adopted 2',
  ])
})
