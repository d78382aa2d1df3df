/** Reads the text of import specifiers. Pure. */

/** The package of a specifier: `@scope/name` for `@scope/name/part`. */
export function packageNameOf(specifier: string): string {
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/')
}

export function isRelative(specifier: string): boolean {
  return /^\.{1,2}(?:\/|$)/.test(specifier)
}
