/** The settings document of an environment (contract, "Settings document"; contract 9.8). */
import type { FieldError } from './envelope.ts'

export interface Settings {
  password_min_length?: number
  password_max_length?: number
  confirm_email_required?: boolean
  site_url?: string
}

/** Values that apply to absent fields. They are never written into the document. */
export const settingsDefaults = { password_min_length: 8, password_max_length: 64, confirm_email_required: false }

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
  return Number.isInteger(value) && (value as number) >= 1 && (value as number) <= longestPassword
}

function isSite(value: unknown): boolean {
  return (
    typeof value === 'string' &&
    value.isWellFormed() &&
    URL.canParse(value) &&
    /^https?:$/.test(new URL(value).protocol)
  )
}
