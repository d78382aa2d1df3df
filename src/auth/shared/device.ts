import Bowser from 'bowser'

/** The device that a session or a change came from, as its user agent tells it: a help for people, and no proof. */
export interface Device {
  os: string | null
  browser: string | null
  /** Like `Firefox on Windows`. */
  label: string
}

export function deviceOf(userAgent: string | null): Device {
  if (!userAgent) return { os: null, browser: null, label: 'unknown device' }
  const { os, browser } = Bowser.parse(userAgent)
  const [system, program] = [os.name || null, browser.name || null]
  const label = program && system ? `${program} on ${system}` : (program ?? system ?? 'unknown device')
  return { os: system, browser: program, label }
}
