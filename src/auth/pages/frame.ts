/** Makes the answer of a page: the document around its content, and the headers that keep its address and its forms to itself. */
import { Secrets } from '@stack/backend'
import { html, raw } from 'hono/html'
import type { Settings } from '../../wire/settings.ts'
import { siteName } from '../mail/preparation.ts'
import { style } from './style.ts'

/** Markup whose values are escaped. */
export type Html = ReturnType<typeof html>

export interface Page {
  title: string
  content: Html
  /** Default: 200. */
  status?: number
  headers?: Record<string, string>
  /** Default: none, which is told by a mark beside the title. */
  mark?: 'done' | 'fault'
  /** The task is done: a button leads to the project's site, where the settings name one. */
  leadsOn?: boolean
  /** A field of the page's form was refused: the title says so, because a screen reader reads it first. */
  isRefused?: boolean
  /** The text of a module, for the one page that needs a script. */
  script?: string
}

/** The parts of the settings that every page shows. */
export interface Site {
  name: string
  /** The project's own site, where the settings name one. */
  url: string | undefined
  support: string | undefined
  /** The path of the stack's address, which a proxy strips (contract 1.2): forms and links begin with it. */
  base: string
  settings: Settings
}

export function siteOf(settings: Settings): Site {
  return {
    name: siteName(settings),
    url: settings.site_url,
    support: settings.support_email,
    base: new URL(Secrets.get('STACK_URL')).pathname.replace(/\/+$/, ''),
    settings,
  }
}

export async function respond(page: Page, site: Site): Promise<Response> {
  const nonce = crypto.randomUUID()
  const headers = { ...headersOf(page, nonce), ...page.headers }
  return new Response(String(await documentOf(page, site, nonce)), { status: page.status ?? 200, headers })
}

/** The address of a page may hold a token: no other site, cache, frame or index may learn it. */
function headersOf({ script }: Page, nonce: string): Record<string, string> {
  const scripts = `script-src 'nonce-${nonce}'; connect-src 'self'; require-trusted-types-for 'script'; trusted-types 'none'; `
  return {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': `default-src 'none'; style-src 'nonce-${nonce}'; ${script === undefined ? '' : scripts}form-action 'self'; frame-ancestors 'none'; base-uri 'none'`,
    'cache-control': 'no-store',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'x-robots-tag': 'noindex',
  }
}

function documentOf({ title, content, mark, leadsOn, isRefused, script }: Page, site: Site, nonce: string): Html {
  const { name, url, support } = site
  const address = support && (/<([^<>]+)>$/.exec(support)?.[1] ?? support)
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${isRefused ? 'Error: ' : ''}${title} – ${name}</title>
<style nonce="${nonce}">${raw(style)}</style>
</head>
<body>
<header><bdi>${name}</bdi></header>
<main>
${mark ? marks[mark] : ''}
<h1>${title}</h1>
${content}
${leadsOn && url ? html`<p><a class="button" href="${url}">Continue to <bdi>${name}</bdi></a></p>` : ''}
</main>
<footer>
${!leadsOn && url ? html`<p><a href="${url}">Back to <bdi>${name}</bdi></a></p>` : ''}
${address ? html`<p>Questions? <a href="mailto:${encodeURIComponent(address).replace('%40', '@')}"><bdi>${address}</bdi></a></p>` : ''}
</footer>
${script === undefined ? '' : html`<script type="module" nonce="${nonce}">${raw(script)}</script>`}
</body>
</html>
`
}

/** The marks say nothing that the title does not say. */
const marks = {
  done: html`<svg class="mark" viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true"><circle cx="12" cy="12" r="10"/><path d="m8 12.5 2.7 2.7L16 9.5"/></svg>`,
  fault: html`<svg class="mark fault" viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" aria-hidden="true"><circle cx="12" cy="12" r="10"/><path d="M12 7v6m0 3.5v.01"/></svg>`,
}
