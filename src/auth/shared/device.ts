import Bowser from 'bowser'

/** The device that a user agent claims. It is a hint for people, because a client may claim anything. */
export interface Device {
  /** Name and version, like `macOS 10.15.7`. `null` where the user agent does not tell. */
  os: string | null
  browser: string | null
  /** One line for a list, like `Safari on macOS`. `null` where the user agent tells neither. */
  label: string | null
}

/** A client that is no browser names itself first (RFC 9110 section 10.1.5), like `curl/8.5.0`. Browsers begin with `Mozilla`. */
const firstProduct = /^(?!Mozilla\/)([A-Za-z][A-Za-z0-9._-]{0,40})\/(\d[0-9A-Za-z.]{0,20})/

/** @param userAgent at most 512 characters, as the sessions keep it. */
export function deviceOf(userAgent: string | null): Device {
  if (userAgent === null || userAgent.trim() === '') return { os: null, browser: null, label: null }
  const { browser, os } = Bowser.parse(userAgent)
  const [, product, version] = firstProduct.exec(userAgent) ?? []
  const client = browser.name ? browser : { name: product, version }
  const names = [client.name, os.name].filter((name) => name)
  return {
    os: named(os.name, os.versionName ?? os.version),
    browser: named(client.name, client.version),
    label: names.length > 0 ? names.join(' on ') : null,
  }
}

function named(name: string | undefined, version: string | undefined): string | null {
  if (!name) return null
  return version ? `${name} ${version}` : name
}

/** The label of a known browser and a known system alone: a mail must not carry a text that the client has written. */
export function knownLabelOf(userAgent: string | null): string | null {
  const { browser, os } = Bowser.parse(userAgent || ' ')
  const known = [
    Object.values(Bowser.BROWSER_MAP).find((name) => name === browser.name),
    Object.values(Bowser.OS_MAP).find((name) => name === os.name),
  ].filter((name) => name)
  return known.length > 0 ? known.join(' on ') : null
}
