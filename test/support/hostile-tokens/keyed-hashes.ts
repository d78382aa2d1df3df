import { createHmac, createPublicKey } from 'node:crypto'
import { jwkOf, kid, part, type TokenClass } from './base.ts'
import type { TokenMaker } from './maker.ts'

/** HMACs keyed with the public key, in every form that libraries load one from. */
export function keyedHashes({
  header,
  signParts,
  accept,
  refuse,

  body,
  keySet,
  keys: { owner, key },
}: TokenMaker): TokenClass {
  const publicKey = createPublicKey(key)
  const jwk = jwkOf(publicKey)
  const der = publicKey.export({ format: 'der', type: 'spki' })
  const pem = publicKey.export({ format: 'pem', type: 'spki' }) as string
  const [x, y] = [Buffer.from(jwk.x!, 'base64url'), Buffer.from(jwk.y!, 'base64url')]
  const point = Buffer.concat([Buffer.from([4]), x, y])
  const forms: [string, string | Buffer][] = [
    ['its entry of the key set', JSON.stringify(owner.jwk)],
    ['the whole key set', keySet],
    ['its canonical JWK', JSON.stringify({ crv: 'P-256', kty: 'EC', x: jwk.x, y: jwk.y })],
    ['its PEM', pem],
    ['its PEM without the last newline', pem.trimEnd()],
    ['its PEM in one line', pem.replaceAll('\n', '')],
    ['its DER', der],
    ['its DER in base64', der.toString('base64')],
    ['its point', point],
    ['its point in hex', point.toString('hex')],
    ['its compressed point', Buffer.concat([Buffer.from([2 + (y.at(-1)! & 1)]), x])],
    ['its x', x],
    ['its x in base64url', jwk.x!],
    ['x and y', Buffer.concat([x, y])],
    ['its kid', kid],
    ['nothing', ''],
  ]
  const hmac = (bits: number, head: string, secret: string | Buffer) =>
    `${head}.${body}.${createHmac(`sha${bits}`, secret).update(`${head}.${body}`).digest('base64url')}`
  return {
    name: 'HMAC keyed with what is public',
    accepted: [accept('the same two parts, signed', signParts(part(header), body))],
    refused: [256, 384, 512].flatMap((bits) =>
      forms.flatMap(([form, secret]) => [
        refuse(`HS${bits} with ${form}`, hmac(bits, part({ alg: `HS${bits}`, kid }), secret)),
        // An HMAC-SHA-512 is as long as a signature of ES256.
        refuse(`HS${bits} with ${form}, as ES256`, hmac(bits, part(header), secret)),
      ]),
    ),
  }
}
