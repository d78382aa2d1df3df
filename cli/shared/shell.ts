/** Texts as words of a shell's command line: what is printed to be pasted must mean what it says. */

/** Control characters are written in the `$'…'` form (POSIX.1-2024): pasted as they are, a terminal would act on them. */
const controls = /\p{Cc}/u

/** One word for bash, zsh and every POSIX shell that knows `$'…'`, whatever the text holds; also in an interactive one. */
export function shellWord(text: string): string {
  if (/^[\w@%+:,./-]+$/.test(text)) return text
  if (!controls.test(text)) return `'${text.replaceAll("'", "'\\''")}'`
  // "!" too: within this form some interactive shells still expand their history
  const escaped = text.replace(/[\\'!\p{Cc}]/gu, (character) =>
    [...Buffer.from(character)].map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join(''),
  )
  return `$'${escaped}'`
}

/** The command that applies the exact fixes, of a project that was named like this. */
export function fixCommandOf(project: string | undefined): string {
  return project === undefined ? 'stack build --fix' : `stack build --fix --project ${shellWord(project)}`
}
