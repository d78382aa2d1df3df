/** Certificates for servers of TLS on loopback, made anew for each run. */
import { generateKeyPairSync, randomBytes, sign } from 'node:crypto'

export interface ServerCertificate {
  /** PEM. */
  cert: string
  /** PEM, PKCS#8. */
  key: string
}

/** A self-signed certificate (X.509 version 3, P-256) for a host name. With `ip`, also for `127.0.0.1`. It is valid for a day. */
export function selfSigned(host: string, { ip = false } = {}): ServerCertificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const algorithm = sequence(oid('2a8648ce3d040302')) // ecdsa-with-SHA256
  const name = sequence(der(0x31, sequence(oid('550403'), der(0x0c, Buffer.from(host))))) // CN
  const names = [der(0x82, Buffer.from(host)), ...(ip ? [der(0x87, Buffer.from([127, 0, 0, 1]))] : [])]
  const extensions = sequence(
    sequence(oid('551d11'), der(0x04, sequence(...names))), // subjectAltName
    sequence(oid('551d13'), der(0x04, sequence(der(0x01, Buffer.from([0xff]))))), // basicConstraints, CA
  )
  const day = 86_400_000
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    algorithm,
    name,
    sequence(time(Date.now() - day), time(Date.now() + day)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, extensions),
  )
  const signature = der(0x03, Buffer.concat([Buffer.from([0]), sign('sha256', body, privateKey)]))
  const lines = sequence(body, algorithm, signature)
    .toString('base64')
    .match(/.{1,64}/g)!
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  }
}

/** One value of DER (ITU-T X.690 section 8.1): tag, length, content. */
function der(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts)
  const { length } = content
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}

const sequence = (...parts: Buffer[]) => der(0x30, ...parts)
const oid = (hex: string) => der(0x06, Buffer.from(hex, 'hex'))
/** UTCTime. */
const time = (milliseconds: number) =>
  der(
    0x17,
    Buffer.from(
      `${new Date(milliseconds)
        .toISOString()
        .replaceAll(/[-:T]|\.\d+/g, '')
        .slice(2)}`,
    ),
  )
