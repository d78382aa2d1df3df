import Bowser from 'bowser'

/** What a user agent says of a device. It is a hint for people: any client can claim anything. */
export interface Device {
  /** Name and version, like `macOS 10.15.7`. `null` where the user agent does not tell. */
  os: string | null
  browser: string | null
  /** One line for a list, like `Safari on macOS`. `null` where the user agent tells neither. */
  label: string | null
}

/** @param userAgent at most 512 characters, as the sessions keep it. */
export function deviceOf(userAgent: string | null): Device {
  if (userAgent === null || userAgent.trim() === '') return { os: null, browser: null, label: null }
  const { browser, os, platform } = Bowser.parse(userAgent)
  const osName = os.name ?? platform.model
  const names = [browser.name, osName].filter((name) => name)
  return {
    os: named(osName, os.versionName ?? os.version),
    browser: named(browser.name, browser.version),
    label: names.length > 0 ? names.join(' on ') : null,
  }
}

function named(name: string | undefined, version: string | undefined): string | null {
  if (!name) return null
  return version ? `${name} ${version}` : name
}
