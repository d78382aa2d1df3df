import { bytesOf, ecdsa, encode, n, numberOf, p, search, type TokenClass } from './base.ts'
import type { TokenMaker } from './maker.ts'

/** Signature values at the edges of the curve. */
export function curve({ accept, refuse, signingInput, keys: { owner, key } }: TokenMaker): TokenClass {
  const made = ecdsa(signingInput, key)
  const [r, s] = [numberOf(made.subarray(0, 32)), numberOf(made.subarray(32))]
  const of = (r: bigint, s: bigint) => `${signingInput}.${encode(Buffer.concat([bytesOf(r), bytesOf(s)]))}`
  const edges: [string, bigint][] = [
    ['0', 0n],
    ['1', 1n],
    ['n − 1', n - 1n],
    ['n', n],
    ['n + 1', n + 1n],
    ['p − 1', p - 1n],
    ['p', p],
    ['p + 1', p + 1n],
    ['all ones', 2n ** 256n - 1n],
    ['half of n', n >> 1n],
  ]
  const low = s > n >> 1n ? n - s : s
  const short = (from: number) =>
    encode(
      search(
        () => ecdsa(signingInput, key),
        (bytes) => bytes[from] === 0,
      ),
    )
  return {
    name: 'signature values',
    accepted: [
      accept('r and s as they were made', of(r, s)),
      // ECDSA admits both values of s. Nothing identifies a token by its text, so the second form forges nothing.
      accept('the lower s', of(r, low)),
      accept('the higher s', of(r, n - low)),
      accept('an r that begins with a zero', `${signingInput}.${short(0)}`),
      accept('an s that begins with a zero', `${signingInput}.${short(32)}`),
    ],
    refused: [
      ...edges
        .flatMap(([what, edge]) => [
          refuse(`r of ${what}`, of(edge, s)),
          refuse(`s of ${what}`, of(r, edge)),
          refuse(`r and s of ${what}`, of(edge, edge)),
          refuse(`r of ${what}, s of 0`, of(edge, 0n)),
          refuse(`r of ${what}, s of n`, of(edge, n)),
        ])
        .filter(([what]) => what !== 'r of 0, s of 0' && what !== 'r of n, s of n'),
      refuse('r and s swapped', of(s, r)),
      refuse('n − r', of(n - r, s)),
      refuse('n − r and n − s', of(n - r, n - s)),
      refuse('r + 1', of(r + 1n, s)),
      refuse('s + 1', of(r, s + 1n)),
      refuse('2s', of(r, (2n * s) % n)),
      refuse('r twice', of(r, r)),
      refuse('s twice', of(s, s)),
      refuse('complements', of(2n ** 256n - 1n - r, 2n ** 256n - 1n - s)),
      refuse('x of the public key for r', of(numberOf(Buffer.from(owner.jwk.x!, 'base64url')), s)),
    ],
  }
}
