/**
 * Access tokens as attackers, careless issuers and broken libraries make them. Each class of attack has its file, and beside
 * the hostile tokens stand the genuine ones that are most like them (contract 3.1 to 3.4, RFC 7515, RFC 7519, RFC 8725).
 * Every name stands for one request.
 */

import { algorithms } from './algorithms.ts'
import { authorizationHeaders } from './authorization-headers.ts'
import type { Json, TokenClass } from './base.ts'
import { criticalHeaders } from './critical-headers.ts'
import { curve } from './curve.ts'
import { elsewhere } from './elsewhere.ts'
import { embeddedKeys } from './embedded-keys.ts'
import { encodings } from './encodings.ts'
import { foreignAlgorithms } from './foreign-algorithms.ts'
import { json } from './json.ts'
import { keySetEntries } from './key-set-entries.ts'
import { keyedHashes } from './keyed-hashes.ts'
import { kids } from './kids.ts'
import { createTokenMaker, type Issuance, type TokenMaker } from './maker.ts'
import { parties } from './parties.ts'
import { prototypes } from './prototypes.ts'
import { roles } from './roles.ts'
import { signatures } from './signatures.ts'
import { subjects } from './subjects.ts'
import { times } from './times.ts'
import { types } from './types.ts'
import { unstorable } from './unstorable.ts'

export type { Lines } from './base.ts'

const classes: readonly ((maker: TokenMaker) => TokenClass)[] = [
  algorithms,
  keyedHashes,
  foreignAlgorithms,
  embeddedKeys,
  kids,
  criticalHeaders,
  types,
  encodings,
  json,
  curve,
  signatures,
  times,
  parties,
  subjects,
  roles,
  unstorable,
  prototypes,
  authorizationHeaders,
  elsewhere,
  keySetEntries,
]

interface HostileTokens {
  /** The body that the address of the key set answers with: the keys of these tokens, among entries to ignore. */
  keySet: string
  classes: TokenClass[]
  /** A genuine token of an anonymous session (contract 3.4). */
  anonymous: string
  /** A genuine token, with these claims in the place of its own. */
  token(claims: Json): string
}

export async function hostileTokens(issuance: Issuance): Promise<HostileTokens> {
  const maker = await createTokenMaker(issuance)
  return {
    keySet: maker.keySet,
    classes: classes.map((tokensOf) => tokensOf(maker)),
    anonymous: maker.make({}, { role: 'anon' }),
    token: (claims) => maker.make({}, claims),
  }
}
