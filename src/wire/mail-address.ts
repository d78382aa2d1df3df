/**
 * Addresses of mail: checked here before a library sees them, because one that parses an address again may find another one in it.
 */

/** Characters of an address (RFC 5321 section 4.5.3.1.3, without the brackets). */
const longestMailAddress = 254

/** Characters before the `@` (RFC 5321 section 4.5.3.1.1). */
const longestLocalPart = 64

/** RFC 5322 `dot-atom`: quoted local parts, comments and folding are left out, because no mail provider gives them out. */
const localPart = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/

/** Labels of a host name (RFC 1123). A top-level domain has a letter, so that an IPv4 address is no domain. */
const domain =
  /^(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+(?=[A-Za-z0-9-]*[A-Za-z])[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/

/**
 * Tells whether a text is an address of ASCII characters. The domain of an internationalised address is given in its ASCII form
 * (`xn--…`): then a lookalike letter cannot pass for another one.
 */
export function isMailAddress(text: string): boolean {
  const at = text.lastIndexOf('@')
  if (at < 1 || text.length > longestMailAddress || at > longestLocalPart) return false
  return localPart.test(text.slice(0, at)) && domain.test(text.slice(at + 1))
}

/**
 * The form in which an address is stored and compared: without outer blanks, in lower case, its domain in ASCII. The part before the
 * `@` is not interpreted: `a+b@` and `a.b@` are addresses of their own.
 *
 * @returns `undefined` for a text that is no address.
 * @example `mailAddress(' Ada@BÜCHER.example ')` is `ada@xn--bcher-kva.example`
 */
export function mailAddress(text: string): string | undefined {
  const trimmed = text.trim()
  const at = trimmed.lastIndexOf('@')
  if (at < 1 || trimmed.length > longestMailAddress) return undefined
  const host = trimmed.slice(at + 1)
  const domain = /^[\x21-\x7e]+$/.test(host) ? host.toLowerCase() : asciiDomain(host)
  const address = `${trimmed.slice(0, at).toLowerCase()}@${domain ?? ''}`
  return isMailAddress(address) ? address : undefined
}

/**
 * Maps an internationalised domain as browsers do (UTS 46). A label of letters that only look like ASCII ones (`ſ`, full-width letters)
 * maps to ASCII: it is refused, because the person sees another name than the one that is stored.
 */
function asciiDomain(host: string): string | undefined {
  const mapped = /^[^\s/:?#@\\[\]%]+$/.test(host) ? URL.parse(`http://${host}/`)?.hostname.split('.') : undefined
  const typed = host.split('.')
  if (mapped?.length !== typed.length) return undefined
  const isHonest = mapped.every((label, index) => label.startsWith('xn--') || /^[\x21-\x7e]+$/.test(typed[index]!))
  return isHonest ? mapped.join('.') : undefined
}
