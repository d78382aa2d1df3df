/** Makes tokens that are genuine except for what a class of attack changes. */
import type { KeyObject } from 'node:crypto'
import { type Accepted, bearer, ecdsa, encode, type Json, kid, part, type Refused } from './base.ts'
import { keySetOf } from './key-set.ts'
import { createKeys, type Keys } from './keys.ts'

export interface Issuance {
  issuer: string
  audience: string
  /** The address of an attacker's key set, which the worker must never fetch. */
  attacker: string
}

/** One part of a token: members that replace those of the genuine part, or the whole part as text or bytes. */
type Part = Json | string | Uint8Array

export interface TokenMaker {
  iss: string
  aud: string
  attacker: string
  /** Unix time in seconds at which every token is issued. */
  now: number
  header: Json
  claims: Json
  keys: Keys
  /** The body that the address of the key set answers with. */
  keySet: string
  /** The genuine token, then its header, its payload and its signature, and the text that is signed. */
  genuine: string
  head: string
  body: string
  signature: string
  signingInput: string
  /** Signs two encoded parts as they are given. */
  signParts(head: string, body: string, by?: KeyObject): string
  /** A genuine token with the given changes. */
  make(head?: Part, body?: Part, by?: KeyObject): string
  accept(name: string, token: string, id?: string): Accepted
  refuse(name: string, token: string): Refused
}

export async function createTokenMaker({ issuer: iss, audience: aud, attacker }: Issuance): Promise<TokenMaker> {
  const now = Math.floor(Date.now() / 1000)
  const keys = await createKeys()
  const claims: Json = { sub: 'usr_1', iss, aud, iat: now, exp: now + 900 }
  const header: Json = { alg: 'ES256', kid }
  const signParts = (head: string, body: string, by = keys.key) =>
    `${head}.${body}.${encode(ecdsa(`${head}.${body}`, by))}`
  const merged = (changed: Part, base: Json) =>
    typeof changed === 'string' || changed instanceof Uint8Array ? changed : { ...base, ...changed }
  const make = (head: Part = {}, body: Part = {}, by = keys.key) =>
    signParts(part(merged(head, header)), part(merged(body, claims)), by)
  const genuine = make()
  const [head, body, signature] = genuine.split('.') as [string, string, string]
  return {
    iss,
    aud,
    attacker,
    now,
    header,
    claims,
    keys,
    keySet: keySetOf(keys, iss),
    genuine,
    head,
    body,
    signature,
    signingInput: `${head}.${body}`,
    signParts,
    make,
    accept: (name, token, id = 'usr_1') => [name, { lines: bearer(token), id }],
    refuse: (name, token) => [name, bearer(token)],
  }
}
