/** How a sender may have written the address that it signed. */

/**
 * The spellings that a sender may have signed: the configured URL if there is one, with and without the port that its
 * scheme implies, and with apostrophes as they are typed, which the Workers runtime encodes.
 *
 * @param configured without a query. @param received the request's own.
 */
export function urlsOf(configured: string | undefined, received: string, search: string): string[] {
  const urls = [configured === undefined ? received : `${configured}${search}`]
  const ported = urls.map(withOtherPort)
  return [...new Set([...urls, ...ported].flatMap((url) => [url, url.replaceAll('%27', "'")]))]
}

const impliedPorts: Readonly<Record<string, string>> = { 'https:': '443', 'http:': '80' }

function withOtherPort(url: string): string {
  const [, scheme = '', host = '', port, rest = ''] = /^(https?:)\/\/([^/?#]*?)(:\d+)?([/?#].*)?$/s.exec(url) ?? []
  if (scheme === '') return url
  return `${scheme}//${host}${port === undefined ? `:${impliedPorts[scheme]}` : ''}${rest}`
}
