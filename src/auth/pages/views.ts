/** The content of the pages. */
import type { HttpError } from '@stack/backend'
import { html } from 'hono/html'
import { type Settings, settingsDefaults } from '../../wire/settings.ts'
import type { Beginning } from '../passkeys/hand-off.ts'
import type { Html, Page, Site } from './frame.ts'

/** A field of a form that was refused. */
export interface Refused {
  /** The text that was typed. A password is never shown again. */
  value?: string
  reason: string
}

/** The form of a page that asks for nothing: its token, and a button. */
function confirmation({ base }: Site, page: string, token: string, label: string): Html {
  return html`<form method="post" action="${base}/auth/pages/${page}">
<input type="hidden" name="token" value="${token}">
<button type="submit">${label}</button>
</form>`
}

/** A refused field has the focus, and its reason is read with it. */
function emailForm({ base }: Site, page: 'resend' | 'forgot', label: string, refused?: Refused): Html {
  return html`<form method="post" action="${base}/auth/pages/${page}">
<label for="email">Email address</label>
${refused ? html`<p class="fault-text" id="email-fault" role="alert">${refused.reason}</p>` : ''}
<input id="email" name="email" type="email" autocomplete="email" inputmode="email" maxlength="320" required value="${refused?.value ?? ''}"
${refused ? html`aria-invalid="true" aria-describedby="email-fault" autofocus` : ''}>
<button type="submit">${label}</button>
</form>`
}

const over = { title: 'This link is not valid any more', status: 410, mark: 'fault' } as const

// the confirmation of an address

export function confirmPage(site: Site, token: string, email: string): Page {
  return {
    title: 'Confirm your email address',
    content: html`<p>Confirm that <strong><bdi>${email}</bdi></strong> is the address of your account at <bdi>${site.name}</bdi>.</p>
${confirmation(site, 'confirm', token, 'Confirm address')}
<p class="note">If you have not signed up, close this page. Nothing happens then.</p>`,
  }
}

export function confirmedPage(site: Site, email: string): Page {
  return {
    title: 'Your address is confirmed',
    mark: 'done',
    leadsOn: true,
    content: html`<p><strong><bdi>${email}</bdi></strong> is confirmed. ${site.url ? '' : 'You may close this page.'}</p>`,
  }
}

/** @param refused where the address in the form was no address. */
export function confirmOverPage(site: Site, refused?: Refused): Page {
  return {
    ...(refused ? { title: 'Ask for a new link', status: 400, isRefused: true } : over),
    content: html`<p>${refused ? '' : 'It has expired, or was used already. '}Enter your email address, and a mail with a new link is sent to it, if it still has to be confirmed.</p>
${emailForm(site, 'resend', 'Send a new link', refused)}`,
  }
}

export function resentPage(email: string): Page {
  return {
    title: 'Check your mailbox',
    content: html`<p>If <strong><bdi>${email}</bdi></strong> has to be confirmed, a mail with a new link is on its way.</p>
<p class="note">It may take a minute. Check the spam folder too.</p>`,
  }
}

// a forgotten password

export function resetPage(site: Site, token: string, email: string, reason?: string): Page {
  const described = reason === undefined ? 'password-hint' : 'password-hint password-fault'
  return {
    title: 'Choose a new password',
    ...(reason === undefined ? {} : { status: 400, isRefused: true }),
    content: html`<p>For the account of <strong><bdi>${email}</bdi></strong> at <bdi>${site.name}</bdi>.</p>
<form method="post" action="${site.base}/auth/pages/reset">
<input type="hidden" name="token" value="${token}">
<input type="text" name="username" autocomplete="username" value="${email}" readonly hidden>
<label for="password">New password</label>
<p class="hint" id="password-hint">${requirement(site.settings)}</p>
${reason === undefined ? '' : html`<p class="fault-text" id="password-fault" role="alert">${reason}</p>`}
<input id="password" name="password" type="password" autocomplete="new-password" required minlength="${leastLength(site.settings)}" aria-describedby="${described}"
${reason === undefined ? '' : html`aria-invalid="true" autofocus`}>
<button type="submit">Set password</button>
</form>
<p class="note">Every device is signed out then.</p>`,
  }
}

/** Code points. The browser counts UTF-16 units, of which there are never fewer, so it refuses no password that the server takes. */
function leastLength({ password_min_length }: Settings): number {
  return password_min_length ?? settingsDefaults.password_min_length
}

function requirement(settings: Settings): string {
  const most = settings.password_max_length ?? settingsDefaults.password_max_length
  return `${leastLength(settings)} to ${most} characters, of any kind.`
}

export function resetDonePage(): Page {
  return {
    title: 'Your password is set',
    mark: 'done',
    leadsOn: true,
    content: html`<p>Every device has been signed out. Sign in with the new password.</p>`,
  }
}

/** @param refused where the address in the form was no address. */
export function resetOverPage(site: Site, refused?: Refused): Page {
  return {
    ...(refused ? { title: 'Ask for a new link', status: 400, isRefused: true } : over),
    content: html`<p>${refused ? '' : 'It has expired, or was used already. Your password is as it was. '}Enter your email address, and a mail with a new link is sent to it, if there is an account.</p>
${emailForm(site, 'forgot', 'Send a new link', refused)}`,
  }
}

export function forgottenPage(email: string): Page {
  return {
    title: 'Check your mailbox',
    content: html`<p>If there is an account with <strong><bdi>${email}</bdi></strong>, a mail with a link is on its way.</p>
<p class="note">It may take a minute. Check the spam folder too.</p>`,
  }
}

// another address

export function changePage(site: Site, token: string, email: string): Page {
  return {
    title: 'Confirm your new email address',
    content: html`<p><strong><bdi>${email}</bdi></strong> becomes the address of your account at <bdi>${site.name}</bdi>. You sign in with it from then on.</p>
${confirmation(site, 'change', token, 'Use this address')}
<p class="note">If you have not asked for this, close this page. Nothing happens then.</p>`,
  }
}

export function changedPage(email: string): Page {
  return {
    title: 'Your address is changed',
    mark: 'done',
    leadsOn: true,
    content: html`<p>Sign in with <strong><bdi>${email}</bdi></strong> from now on.</p>`,
  }
}

export function changeOverPage(): Page {
  return {
    ...over,
    content: html`<p>It has expired, or was used already. If the address of your account is still the former one, sign in and change it again.</p>`,
  }
}

export function takenPage(email: string): Page {
  return {
    title: 'This address belongs to another account',
    status: 409,
    mark: 'fault',
    content: html`<p>There is another account with <strong><bdi>${email}</bdi></strong> by now. Nothing was changed.</p>`,
  }
}

export function undoPage(site: Site, token: string, email: string): Page {
  return {
    title: 'Keep your email address',
    content: html`<p>Somebody who is signed in to your account at <bdi>${site.name}</bdi> has asked for another address than <strong><bdi>${email}</bdi></strong>. If that was not you, take the account back:</p>
<ul>
<li><bdi>${email}</bdi> stays the address of your account, or becomes it again.</li>
<li>Every device is signed out, and the present password is void.</li>
<li>A mail to this address lets you choose a new password.</li>
</ul>
${confirmation(site, 'undo', token, 'Keep my address')}
<p class="note">If it was you, close this page. Nothing happens then.</p>`,
  }
}

export function keptPage(email: string): Page {
  return {
    title: 'Your address is kept',
    mark: 'done',
    content: html`<p>Every device has been signed out, and the password is void. A mail to <strong><bdi>${email}</bdi></strong> lets you choose a new one.</p>`,
  }
}

export function undoOverPage({ support }: Site): Page {
  const help = support ? ' or write to the address below' : ''
  return {
    ...over,
    content: html`<p>It has expired, or was used already. If you cannot sign in, ask for a new password${help}.</p>`,
  }
}

// a passkey

/** @param cancelled where the application learns that the person did not sign in. */
export function passkeyPage({ base, name }: Site, begun: Beginning, cancelled: string): Page {
  const { redirect_to, code_challenge, state } = begun
  return {
    title: 'Sign in with a passkey',
    content: html`<p>Use the passkey that you have added to your account at <bdi>${name}</bdi>.</p>
<div id="passkey" data-base="${base}" data-redirect-to="${redirect_to}" data-code-challenge="${code_challenge}"
${state === undefined ? '' : html`data-state="${state}"`}>
<p class="fault-text" role="alert"></p>
<p><button type="button" hidden>Use a passkey</button></p>
</div>
<noscript><p><strong>This page needs JavaScript.</strong> Switch it on, or sign in another way.</p></noscript>
<p><a class="way" href="${cancelled}">Cancel</a></p>`,
  }
}

/** There is no application that the browser could be sent back to. */
export function unplacedPage(): Page {
  return {
    title: 'This sign-in cannot begin',
    status: 400,
    mark: 'fault',
    content: html`<p>The address of this page is not one that the application may use. Go back to it and try again.</p>`,
  }
}

// what goes wrong

/** The address of the page has no token, or only a part of it. */
export function incompletePage(): Page {
  return {
    title: 'This link is not complete',
    status: 400,
    mark: 'fault',
    content: html`<p>A part of it is missing. Open the link in the mail again, or copy the whole of it.</p>`,
  }
}

/** A page that a form was posted to is opened without the form. */
export function lostPage(): Page {
  return {
    title: 'This page has nothing to show',
    status: 404,
    content: html`<p>Open the link in the mail again.</p>`,
  }
}

/** @param title says what did not work. */
export function refusedPage({ status, code, message, details }: HttpError, title: string): Page {
  const retry = details.headers?.['retry-after']
  if (code !== 'rate_limited') {
    return {
      title,
      status,
      mark: 'fault',
      content: html`<p role="alert">${sentence(message)}</p><p>Go back and try again.</p>`,
    }
  }
  const minutes = Math.max(1, Math.ceil(Number(retry ?? 60) / 60))
  return {
    title: 'Too many attempts',
    status,
    mark: 'fault',
    ...(retry === undefined ? {} : { headers: { 'retry-after': retry } }),
    content: html`<p role="alert">Wait ${minutes} ${minutes === 1 ? 'minute' : 'minutes'}, then go back and try again.</p>`,
  }
}

/** @param text the description of an error, which begins in lower case and has no full stop. */
export function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${text.endsWith('.') ? '' : '.'}`
}
