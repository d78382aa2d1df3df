/** Spellings of an address that a sender may have signed. */

/**
 * The configured URL if there is one, with and without its scheme's default port, and with apostrophes that are not encoded:
 * the Workers runtime encodes those of a request.
 *
 * @param configured a URL without a query.
 * @param received the URL of the request.
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
