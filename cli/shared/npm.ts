/** Flags that npm took for itself: `npm exec @stack/backend init shop --yes` gives this command no `--yes`. */

/** Values that npm gives to a flag of the form `--no-x`. */
const negative = new Set(['', 'false'])

/**
 * @param names of flags, without `--` and `--no-`.
 * @returns a sentence that says what to type, or `undefined` where npm took none of them.
 */
export function eatenFlags(names: readonly string[]): string | undefined {
  if (process.env['npm_command'] !== 'exec') return undefined
  const taken = names.flatMap((name) => {
    const value = process.env[`npm_config_${name.replaceAll('-', '_')}`]
    // npm has a setting `git` of its own, which names the program
    if (value === undefined || (name === 'git' && !negative.has(value))) return []
    return [negative.has(value) ? `--no-${name}` : `--${name}`]
  })
  if (taken.length === 0) return undefined
  return `npm took ${taken.join(' and ')} for itself: write -- before the command, as in npm exec -- @stack/backend init shop ${taken[0]}`
}
