/** Every event of the audit trail. This is the whole list. */
export const auditEvents = [
  'user.signed_up',
  'user.signed_in',
  'user.sign_in_failed',
  'user.signed_out',
  'user.upgraded',
  'user.deleted',
  'identity.linked',
  'identity.unlinked',
  'password.changed',
  'token.reuse_detected',
  'token.recovered',
  'session.revoked',
  'consent.granted',
  'consent.withdrawn',
  'mfa.enrolled',
  'mfa.verified',
  'mfa.failed',
  'mfa.removed',
  'mfa.recovery_codes_renewed',
  'key.rotated',
] as const

export type AuditEvent = (typeof auditEvents)[number]
