/**
 * The roots of attestations, pinned by public key: Google's certificates of 2016, 2019, 2021 and 2022 hold one key, so a certificate
 * would pin too little.
 */
import type { Bytes } from '../../wire/der.ts'

export interface Root {
  /** The distinguished name in DER. */
  subject: Bytes
  /** The SubjectPublicKeyInfo in DER. */
  spki: Bytes
  kind: 'P-384' | 'rsa' | 'P-256'
  /** Unix time in milliseconds until which the newest certificate of the key is valid. */
  until: number
  /** The root signs keys of factories, whose chains live for ten years and differ in form from those that Google provisions remotely. */
  hasFactoryChains?: true
}

function bytes(base64: string): Bytes {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
}

/** Apple App Attestation Root CA. */
export const appleRoots: readonly Root[] = [
  {
    subject: bytes(
      'MFIxJjAkBgNVBAMMHUFwcGxlIEFwcCBBdHRlc3RhdGlvbiBSb290IENBMRMwEQYDVQQKDApBcHBsZSBJbmMuMRMwEQYDVQQIDApDYWxpZm9ybmlh',
    ),
    spki: bytes(
      'MHYwEAYHKoZIzj0CAQYFK4EEACIDYgAERTHhmLW07ATaFQIEVwTtT4dyctdhNbJhFs/Ii2FdCgAHGbpphY3+d8qjuDngIN3WVhQUBHAoMeQ/cLiP1sOUtgjqK9auYen1mMEvRq9Sk3Jm5X8U62H+xTD3FE9TgS41',
    ),
    kind: 'P-384',
    until: Date.UTC(2045, 2, 15),
  },
]

/** Google's root of 2016, and `Key Attestation CA1`, which alone signs remotely provisioned keys since 2026-04-10. */
export const googleRoots: readonly Root[] = [
  {
    subject: bytes('MBsxGTAXBgNVBAUTEGY5MjAwOWU4NTNiNmIwNDU='),
    spki: bytes(
      'MIICIjANBgkqhkiG9w0BAQEFAAOCAg8AMIICCgKCAgEAr7bHgiuxpwHsK7Qui8xUFmOr75gvMsd/dTEDDJdSSxtf6An7xyqpRR90PL2abxM1dEqlXnf2tqw1Ne4Xwl5jlRfdnJLmN0pTy/4lj4/7tv0Sk3iiKkypnEUtR6WfMgH0QZfKHM1+di+y9TFRtv6y//0rb+T+W8a9nsNL/ggjnar86461qO0rOs2cXjp3kOG1FEJ5MVmFmBGtnrKpa73XpXyTqRxB/M0n1n/W9nGqC4FSYa04T6N5RIZGBN2z2MT5IKGbFlbC8UrW0DxW7AYImQQcHtGl/m00QLVWutHQoVJYnFPlXTcHYvASLu+RhhsbDmxMgJJ0mcDpvsC4PjvB+TxywElgS70vE0XmLD+OJtvsBslHZvPBKCOdT0MS+tgSOIfga+z1Z1g7+DVagf7quvmag8jfPioyKvxnK/EgsTUVi2ghzq8wm27ud/mIM7AY2qEORR8Go3TVB4HzWQgpZrt3i5MIlCaY504LzSRiigHCzAPlHws+W0rB5N+er5/2pJKnfBSDiCiFAVtCLOZ7gLiMm0jhO2B6tUXHI/+MRPjy02i59lINMRRev56GKtcd9qO/0kUJWdZTdA2XoS82ixPvZtXQpUpuL12ab+9EaDK8Z4RHJYYfCT3Q5vNAXaiWQ+8PTWm2QgBR/bkwSWc+NpUFgNPN9PvQi8WEg5UmAGMCAwEAAQ==',
    ),
    kind: 'rsa',
    until: Date.UTC(2042, 2, 15, 18, 7, 48),
    hasFactoryChains: true,
  },
  {
    subject: bytes(
      'MFIxHDAaBgNVBAMME0tleSBBdHRlc3RhdGlvbiBDQTExEDAOBgNVBAsMB0FuZHJvaWQxEzARBgNVBAoMCkdvb2dsZSBMTEMxCzAJBgNVBAYTAlVT',
    ),
    spki: bytes(
      'MHYwEAYHKoZIzj0CAQYFK4EEACIDYgAEI9ojcU7fPlsFCjxy6IRqzgeOoK0b+YsV9FPQywiyw8EQRTkJ9u3qwfnI4DGoSLlBqClTXJfgfCcZvs60FikNMHnu4fkRzObfgDkU2KNXezT9/RQ+XvNslxPHrHCowhGr',
    ),
    kind: 'P-384',
    until: Date.UTC(2035, 6, 15, 22, 32, 18),
  },
]
