/** Variants for Standard Webhooks: the signature is one of a list, and covers the id of the delivery. */
import {
  type Base,
  bytesOf,
  type Delivery,
  type SchemeVariants,
  signatureOf,
  type Variant,
  withClaim,
  withHeader,
  withHeaders,
  withoutHeader,
} from './base.ts'

function hostile(base: Base): Variant[] {
  const { scheme, claim, signature, sender } = base
  const { timestamp, id, body } = claim
  const { header, idHeader = '', timestampHeader = '' } = scheme
  const put = (value: string): Delivery => withHeader(base, header, value)
  const own = header.slice(0, -'signature'.length)
  const other = own === 'svix-' ? 'webhook-' : 'svix-'
  const under = (...names: string[]) =>
    withHeaders(base, (name, value) => [[names.includes(name) ? name.replace(own, other) : name, value]])
  const isGitlab = sender.event === 'issue.open'
  return [
    ['a label alone', put('v1,')],
    ['v1a alone', put(`v1a,${signature}`)],
    ['the label in upper case', put(`V1,${signature}`)],
    ['an equals sign for the comma', put(`v1=${signature}`)],
    ['a colon for the comma', put(`v1:${signature}`)],
    ['a label without a comma', put(`v1${signature}`)],
    ['an empty label', put(`,${signature}`)],
    ['another id', withHeader(base, idHeader, 'msg_other')],
    ['no id', withHeader(base, idHeader)],
    ['no id, and signed so', withoutHeader(withClaim(base, { id: '' }), idHeader)],
    ['an empty id', withHeader(base, idHeader, '')],
    ['an empty id, and signed so', withClaim(base, { id: '' })],
    ['the id twice', withHeader(base, idHeader, id, id)],
    ['the id in upper case', withHeader(base, idHeader, id.toUpperCase())],
    ['an id with a dot, and signed so', withClaim(base, { id: 'msg.1' })],
    ['a signature without the id', put(`v1,${signatureOf(scheme, claim, Buffer.from(bytesOf(timestamp, '.', body)))}`)],
    ['the signature under the other prefix', under(header)],
    ['the id under the other prefix', under(idHeader)],
    ['the time under the other prefix', under(timestampHeader)],
    ['all but the signature under the other prefix', under(idHeader, timestampHeader)],
    // GitLab sends under one prefix, and its plain header proves nothing where a signing token is set.
    ...(isGitlab
      ? ([
          ['the headers of svix', under(header, idHeader, timestampHeader)],
          ['the secret in the header for plain ones', { headers: [['x-gitlab-token', claim.secret]], body }],
        ] satisfies Variant[])
      : []),
    [
      'only wrong ones',
      put(`v1,${signature.replace(/^./, (c) => (c === 'A' ? 'B' : 'A'))} v1a,${signature} v2,${signature}`),
    ],
  ]
}

function legitimate(base: Base): Variant[] {
  const { scheme, claim, signature, sender } = base
  const { header } = scheme
  const wrong = signatureOf(scheme, { ...claim, secret: sender.otherSecret })
  const put = (value: string) => withHeader(base, header, value)
  return [
    ['several, the right one last', put(`v1,${wrong} v1,${signature}`)],
    ['several, the right one first', put(`v1,${signature} v1,${wrong}`)],
    ['v1a beside it', put(`v1a,${signature}${signature} v1,${signature}`)],
    ['an unknown version beside it', put(`v1,${signature} v9,zzz`)],
    ['another id', withClaim(base, { id: 'a-B_9' })],
  ]
}

export const standardVariants: SchemeVariants = { hostile, legitimate }
