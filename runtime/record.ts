/** Collects names and values into an object. A name that occurs once has a text, a repeated one has a list. */
export function recordOf(pairs: Iterable<readonly [string, string]>): Record<string, string | string[]> {
  const entries = new Map<string, string | string[]>()
  for (const [name, value] of pairs) {
    const before = entries.get(name)
    if (Array.isArray(before)) before.push(value)
    else entries.set(name, before === undefined ? value : [before, value])
  }
  return Object.fromEntries(entries)
}
