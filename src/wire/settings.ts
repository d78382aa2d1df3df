/** The settings document of an environment (contract, "Settings document"; contract 9.8). */
import type { FieldError } from './envelope.ts'

export interface Settings {
  password_min_length?: number
  password_max_length?: number
  confirm_email_required?: boolean
  site_url?: string
  /** `false` leaves making users to the management surface. */
  sign_up_enabled?: boolean
  /** Days that entries of the audit trail are kept. */
  audit_retention_days?: number
  /** Days that a signing key signs before it is rotated. */
  signing_key_rotation_days?: number
  /** Limits that differ from their defaults. */
  rate_limits?: Partial<Record<LimitName, AttemptLimit>>
}

/** How many attempts fit into a period, and how fast they come back: a limit refills at a steady rate. */
export interface AttemptLimit {
  attempts: number
  seconds: number
}

/** Each limit of the auth module, by what it counts. An address limit counts a network: an IPv4 address or an IPv6 /64. */
export const limitsDefaults = {
  sign_in_per_account: { attempts: 5, seconds: 900 },
  sign_in_per_account_everywhere: { attempts: 100, seconds: 3600 },
  sign_in_per_address: { attempts: 10, seconds: 60 },
  sign_up_per_address: { attempts: 10, seconds: 3600 },
  second_factor_per_account: { attempts: 10, seconds: 900 },
  refresh_per_session: { attempts: 60, seconds: 60 },
} as const satisfies Record<string, AttemptLimit>

export type LimitName = keyof typeof limitsDefaults

/** Values that apply to absent fields. They are never written into the document. */
export const settingsDefaults = {
  password_min_length: 8,
  password_max_length: 64,
  confirm_email_required: false,
}

/** Largest value of both length fields, in code points. Contract, "Settings document", sets it. */
const longestPassword = 64

const forms: Record<keyof Settings, { isValid: (value: unknown) => boolean; reason: string }> = {
  password_min_length: {
    isValid: isLength,
    reason: `password_min_length must be a whole number from 1 to ${longestPassword}`,
  },
  password_max_length: {
    isValid: isLength,
    reason: 'password_max_length must be between password_min_length and 64',
  },
  confirm_email_required: {
    isValid: (value) => typeof value === 'boolean',
    reason: 'confirm_email_required must be true or false',
  },
  site_url: { isValid: isSite, reason: 'site_url must be an http or https URL' },
  sign_up_enabled: { isValid: (value) => typeof value === 'boolean', reason: 'sign_up_enabled must be true or false' },
  audit_retention_days: {
    isValid: (value) => isWhole(value, 7, 3650),
    reason: 'audit_retention_days must be a whole number from 7 to 3650',
  },
  signing_key_rotation_days: {
    isValid: (value) => isWhole(value, 1, 3650),
    reason: 'signing_key_rotation_days must be a whole number from 1 to 3650',
  },
  rate_limits: {
    isValid: isLimits,
    reason: `rate_limits must be an object of ${Object.keys(limitsDefaults).join(', ')}, each { "attempts": 1 to 10000, "seconds": 1 to 86400 }`,
  },
}

export interface ReadSettings {
  settings: Settings
  /** Names of unknown fields, which are not stored. */
  ignored: string[]
  errors: FieldError[]
}

/** Checks a whole document. It adds no default to it. */
export function readSettings(document: unknown): ReadSettings {
  if (typeof document !== 'object' || document === null || Array.isArray(document)) {
    return { settings: {}, ignored: [], errors: [{ path: 'body', reason: 'the settings must be an object' }] }
  }
  const settings: Record<string, unknown> = {}
  const ignored: string[] = []
  const errors: FieldError[] = []
  for (const [name, value] of Object.entries(document)) {
    const form = Object.hasOwn(forms, name) ? forms[name as keyof Settings] : undefined
    if (!form) ignored.push(name)
    else if (form.isValid(value)) settings[name] = value
    else errors.push({ path: name, reason: form.reason })
  }
  const known = settings as Settings
  const least = known.password_min_length ?? settingsDefaults.password_min_length
  const most = known.password_max_length ?? settingsDefaults.password_max_length
  if (errors.length === 0 && most < least) {
    errors.push({ path: 'password_max_length', reason: forms.password_max_length.reason })
  }
  return { settings: known, ignored, errors }
}

function isLength(value: unknown): boolean {
  return isWhole(value, 1, longestPassword)
}

function isWhole(value: unknown, least: number, most: number): boolean {
  return Number.isInteger(value) && (value as number) >= least && (value as number) <= most
}

function isLimits(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  return Object.entries(value).every(([name, limit]) => {
    if (!Object.hasOwn(limitsDefaults, name) || typeof limit !== 'object' || limit === null) return false
    const { attempts, seconds, ...others } = limit as Record<string, unknown>
    return Object.keys(others).length === 0 && isWhole(attempts, 1, 10_000) && isWhole(seconds, 1, 86_400)
  })
}

function isSite(value: unknown): boolean {
  return (
    typeof value === 'string' &&
    value.isWellFormed() &&
    URL.canParse(value) &&
    /^https?:$/.test(new URL(value).protocol)
  )
}
