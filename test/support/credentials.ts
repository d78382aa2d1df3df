/** Credentials of providers, sealed as the auth module seals them and written as the owner of the database. */

import { stackFiles } from '../../local/files.ts'
import { keysAt } from '../../local/keys.ts'
import { seal } from '../../src/auth/shared/seal.ts'
import { type RequestScope, scope } from '../../src/sdk/scope.ts'
import type { TestStack } from './stack.ts'

/** Stores the password of an SMTP account, or the token of an HTTP gateway. */
export async function storeSenderSecret({ root, sql }: TestStack, name: string, secret: string): Promise<void> {
  const env = { SEALING_KEY: keysAt(stackFiles(root).keys).sealing_key }
  const credential = JSON.stringify({ kind: 'sender_secret', secret })
  const current = { env, isOver: false } as unknown as RequestScope
  const sealed = await scope.run(current, () => seal(credential, `provider credential email ${name}`))
  await sql(
    `insert into auth.provider_credentials (provider, name, kind, sealed, fingerprint)
      values ('email', $1, 'sender_secret', $2, '0123456789abcdef')`,
    [name, sealed],
  )
}
