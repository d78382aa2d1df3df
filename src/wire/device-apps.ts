/** The applications whose devices are attested: the setting `device_apps`. */
import type { DevicePlatform } from './devices.ts'

/** An application whose devices are attested: an entry of the setting `device_apps`. */
export type DeviceApp = IosApp | AndroidApp

export interface IosApp {
  application_key: string
  platform: 'ios'
  /** Team id and bundle id, like `ABCDE12345.com.example.app`. */
  app_ids: string[]
  /** Categories that are admitted where a device tells its own. Absent: all. */
  categories?: number[]
}

export interface AndroidApp {
  application_key: string
  platform: 'android'
  package_name: string
  /** SHA-256 of each certificate that signs the app, in lower-case hexadecimal digits. */
  signing_certificates_sha256: string[]
  /** Absent: both. */
  levels?: ('tee' | 'strongbox')[]
  /** Keys of systems that their owners signed themselves, in lower-case hexadecimal digits. Absent: none. */
  boot_keys?: string[]
  /** Admits devices whose factory certificates expired on 2026-05-24. Absent: they are refused, as by Google. */
  accept_expired_factory_chains?: boolean
}

/** Entries of `device_apps`: each enrolment looks at all of them. */
const mostDeviceApps = 50
/** Entries of each list within an app. */
const mostEntries = 50

const applicationKey = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/
const appId = /^[A-Z0-9]{10}\.[A-Za-z0-9.-]{1,155}$/
const packageName = /^[A-Za-z][A-Za-z0-9_]*(?:\.[A-Za-z][A-Za-z0-9_]*)+$/
const digest = /^[0-9a-f]{64}$/
/** A boot key is a SHA-256 of a public key, or the key itself on older devices. */
const bootKey = /^(?:[0-9a-f]{2}){16,64}$/

/** @returns whether the text may name an application. */
export function isApplicationKey(value: unknown): boolean {
  return typeof value === 'string' && applicationKey.test(value)
}

type Check = (value: unknown) => boolean

const listOf =
  (check: Check, least = 1): Check =>
  (value) =>
    Array.isArray(value) && value.length >= least && value.length <= mostEntries && value.every(check)
const matching =
  (form: RegExp): Check =>
  (value) =>
    typeof value === 'string' && value.length <= 255 && form.test(value)

const forms: Record<DevicePlatform, { required: Record<string, Check>; optional: Record<string, Check> }> = {
  ios: {
    required: { application_key: isApplicationKey, platform: () => true, app_ids: listOf(matching(appId)) },
    optional: {
      categories: listOf((value) => Number.isInteger(value) && (value as number) >= 0 && (value as number) < 2 ** 32),
    },
  },
  android: {
    required: {
      application_key: isApplicationKey,
      platform: () => true,
      package_name: matching(packageName),
      signing_certificates_sha256: listOf(matching(digest)),
    },
    optional: {
      levels: listOf((value) => value === 'tee' || value === 'strongbox'),
      boot_keys: listOf(matching(bootKey), 0),
      accept_expired_factory_chains: (value) => typeof value === 'boolean',
    },
  },
}

/** The forms of both kinds of entry, for the refusal of the setting. */
export const deviceAppsReason = `device_apps must be a list of at most ${mostDeviceApps} apps, each with its own pair of application_key and platform: { "application_key", "platform": "ios", "app_ids": ["<team id>.<bundle id>"], "categories"? } or { "application_key", "platform": "android", "package_name", "signing_certificates_sha256": [64 lower-case hexadecimal digits], "levels"?: ["tee", "strongbox"], "boot_keys"?, "accept_expired_factory_chains"? }`

export function isDeviceApps(value: unknown): value is DeviceApp[] {
  if (!Array.isArray(value) || value.length > mostDeviceApps || !value.every(isDeviceApp)) return false
  const names = value.map(({ application_key, platform }) => `${platform} ${application_key}`)
  return new Set(names).size === names.length
}

function isDeviceApp(value: unknown): value is DeviceApp {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const entry = value as Record<string, unknown>
  if (entry['platform'] !== 'ios' && entry['platform'] !== 'android') return false
  const { required, optional } = forms[entry['platform']]
  return (
    Object.entries(required).every(([name, check]) => Object.hasOwn(entry, name) && check(entry[name])) &&
    Object.keys(entry).every(
      (name) => Object.hasOwn(required, name) || (Object.hasOwn(optional, name) && optional[name]!(entry[name])),
    )
  )
}
