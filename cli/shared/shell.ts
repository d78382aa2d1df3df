/** Quotes texts as words of a shell, so that a printed command can be pasted. */

/** Control characters need the `$'…'` form (POSIX.1-2024): a terminal would act on them when they are pasted. */
const controls = /\p{Cc}/u

/** Quotes any text as one word of bash, zsh and every POSIX shell that knows `$'…'`. Interactive shells read the same word. */
export function shellWord(text: string): string {
  if (/^[\w@%+:,./-]+$/.test(text)) return text
  if (!controls.test(text)) return `'${text.replaceAll("'", "'\\''")}'`
  // "!" is escaped too, because some interactive shells expand their history within this form.
  const escaped = text.replace(/[\\'!\p{Cc}]/gu, (character) =>
    [...Buffer.from(character)].map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join(''),
  )
  return `$'${escaped}'`
}
