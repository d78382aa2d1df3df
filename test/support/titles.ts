/** Gives tests that are made of data names that are short and unique. */

/** Longest title in characters. Reporters cut names of a few hundred, and one line of a terminal shows about this many. */
const longestTitle = 90

/** Puts a title before each case, for `it.each(titled([…]))('%s', (_title, …) => …)`. */
export function titled<const T extends readonly unknown[]>(cases: readonly T[]): [string, ...T][] {
  const known = new Set<string>()
  return cases.map((values, index) => {
    const whole = values
      .map((value) => (typeof value === 'string' ? value : JSON.stringify(value)))
      .join(' ')
      .replace(/\s+/g, ' ')
    const short = whole.length > longestTitle ? `${whole.slice(0, longestTitle)}… (${whole.length} characters)` : whole
    const title = known.has(short) ? `${short} #${index + 1}` : short
    known.add(title)
    return [title, ...values]
  })
}
