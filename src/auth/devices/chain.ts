/** Chains of certificates up to a root that is pinned by its public key (RFC 5280 section 6). */
import type { Bytes } from '../../wire/der.ts'
import { type Certificate, isSame, isSignedBy } from './certificate.ts'
import type { Root } from './roots.ts'

/** Why an attestation was refused. The log and the audit trail have it, the client does not. */
export interface Refused {
  reason: string
}

export interface ChainRules {
  roots: readonly Root[]
  /** Unix time in milliseconds. */
  now: number
  /** The leaf is valid as long as its chain: Android's devices write its times by their own clocks. */
  hasFreeLeaf?: boolean
  /** Position 1 may lack the mark of an authority: some factories left it out. */
  isUnmarkedIssuerAllowed?: boolean
  /** Certificates that have expired still count. */
  isExpiryIgnored?: boolean
}

/**
 * Verifies names, signatures, authorities, path lengths and times.
 *
 * @param chain the leaf first. The root's own certificate may stand at the end or be left out: the pinned key verifies either way.
 * @throws DerFault for a signature that is malformed.
 */
export async function chainFault(chain: readonly Certificate[], rules: ChainRules): Promise<Refused | undefined> {
  const last = chain.at(-1)!
  const included = rules.roots.find(({ spki }) => isSame(spki, last.publicKey.spki))
  const root = included ?? rules.roots.find(({ subject }) => isSame(subject, last.issuer))
  if (!root) return { reason: 'unknown_root' }
  const path = included ? chain.slice(0, -1) : chain
  if (path.length < 2) return { reason: 'chain_too_short' }
  const fault =
    formFault(path, root, rules) ?? (included && !isSame(last.subject, root.subject) ? 'wrong_issuer' : undefined)
  if (fault) return { reason: fault }
  const rootKey = { spki: root.spki, kind: root.kind, point: undefined }
  // the certificate of a root is signed by itself: without this check its other bytes could be anything
  const signatures = path.map((one, position) => isSignedBy(one, path[position + 1]?.publicKey ?? rootKey))
  if (included) signatures.push(isSignedBy(last, rootKey))
  return (await Promise.all(signatures)).every(Boolean) ? undefined : { reason: 'bad_signature' }
}

/** All that can be told without a signature. */
function formFault(path: readonly Certificate[], root: Root, rules: ChainRules): string | undefined {
  if (rules.now > root.until) return 'root_expired'
  for (const [position, certificate] of path.entries()) {
    const issuer: Bytes = path[position + 1]?.subject ?? root.subject
    if (!isSame(certificate.issuer, issuer)) return 'wrong_issuer'
    const fault = position === 0 ? leafFault(certificate) : authorityFault(certificate, position, rules)
    if (fault) return fault
    if (position === 0 && rules.hasFreeLeaf) continue
    if (rules.now < certificate.notBefore) return 'not_yet_valid'
    if (rules.now > certificate.notAfter && !rules.isExpiryIgnored) return 'expired'
  }
  return undefined
}

function leafFault({ isAuthority }: Certificate): string | undefined {
  return isAuthority ? 'leaf_is_authority' : undefined
}

function authorityFault(certificate: Certificate, position: number, rules: ChainRules): string | undefined {
  const { isAuthority, maySignCertificates, pathLength } = certificate
  const isUnmarked = !isAuthority && position === 1 && rules.isUnmarkedIssuerAllowed
  if (!isUnmarked && (!isAuthority || maySignCertificates === false)) return 'not_an_authority'
  // the leaf does not count (RFC 5280 section 4.2.1.9)
  if (pathLength !== undefined && position - 1 > pathLength) return 'path_too_long'
  return undefined
}
