import { type Json, type TokenClass } from './base.ts'
import { otherUseKeys, ownerOf, unusableEntries } from './key-set.ts'
import type { TokenMaker } from './maker.ts'

/** Entries of the key set that are no P-256 key for ES256 count as absent (contract 3.2), with their kid and without. */
export function keySetEntries({ make, accept, refuse, keys }: TokenMaker): TokenClass {
  const by = (kid: string | undefined) => make({ kid })
  const usable = ['bare-members', 'private', 'use-sig', 'alg-es256', 'verifies', 'more-members', 'after-broken']
  return {
    name: 'the key set',
    accepted: usable.map((kid) => accept(`by the key ${kid}`, by(kid))),
    refused: [
      ...unusableEntries(keys).flatMap((entry) => {
        const kid = (entry as Json | null)?.['kid']
        return typeof kid === 'string' ? [refuse(`by the key ${kid}`, make({ kid }, {}, ownerOf(kid, keys)))] : []
      }),
      ...[...otherUseKeys.entries()].map(([kid, by]) =>
        refuse(`by the key ${kid}, without a kid`, make({ kid: undefined }, {}, by)),
      ),
    ],
  }
}
