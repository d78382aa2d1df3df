/** GitHub has no ID token: its API tells who the access token belongs to (https://docs.github.com/en/rest/users). */

import * as v from 'valibot'
import type { OAuthProvider } from '../../wire/providers.ts'
import type { Person } from '../identities/rows.ts'
import { personOf } from './person.ts'
import { AnswerRefused, providerFetch } from './provider-fetch.ts'

const account = v.object({
  id: v.pipe(v.number(), v.safeInteger(), v.minValue(1)),
  login: v.string(),
  name: v.nullish(v.string()),
  avatar_url: v.nullish(v.string()),
})
const addresses = v.array(v.object({ email: v.string(), primary: v.boolean(), verified: v.boolean() }))

export async function githubPerson(
  accessToken: string,
  { user, emails }: { user: string; emails: string },
): Promise<Person & { provider: OAuthProvider }> {
  const [{ id, login, name, avatar_url }, known] = await Promise.all([
    read(user, accessToken, account),
    read(emails, accessToken, addresses),
  ])
  const primary = known.find((one) => one.primary)
  return personOf(
    'github',
    String(id),
    { address: primary?.email, isVerified: primary?.verified === true },
    { name: name ?? login, picture: avatar_url, login, given_name: undefined, family_name: undefined },
  )
}

async function read<T extends v.GenericSchema>(address: string, token: string, schema: T): Promise<v.InferOutput<T>> {
  const response = await providerFetch(address, {
    headers: {
      accept: 'application/vnd.github+json',
      authorization: `Bearer ${token}`,
      'user-agent': 'stack-auth', // GitHub refuses requests without one
      'x-github-api-version': '2022-11-28',
    },
  })
  if (response.status !== 200) throw new AnswerRefused(`${address} answered with ${response.status}`)
  const parsed = v.safeParse(schema, await response.json().catch(() => undefined))
  if (!parsed.success) throw new AnswerRefused(`${address} did not answer as it is documented`)
  return parsed.output
}
