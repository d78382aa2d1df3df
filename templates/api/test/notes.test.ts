import assert from 'node:assert/strict'
import { it } from 'node:test'
import { call, signUp } from './stack.ts'

it('notes need a signed-in user', async () => {
  assert.equal((await call('/notes')).status, 401)
})

it('a note without text is refused with the name of the field', async () => {
  const { status, json } = await call('/notes', { token: await signUp(), json: {} })
  assert.deepEqual([status, json.fields[0].path], [400, 'text'])
})

it('a person sees their own notes alone', async () => {
  const [ada, ben] = [await signUp(), await signUp()]
  assert.equal((await call('/notes', { token: ada, json: { text: 'buy tea' } })).status, 201)
  const texts = async (token: string) =>
    (await call('/notes', { token })).json.map(({ text }: { text: string }) => text)
  assert.deepEqual([await texts(ada), await texts(ben)], [['buy tea'], []])
})
