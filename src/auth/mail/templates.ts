/** The built-in templates of messages. This is the whole list. */
import { type builtInTemplates, commonVariables, type TemplateVariable } from '../../wire/templates.ts'

/** Variables of a message with which the reader acts. `code_minutes` is how long the code is valid, `expires_minutes` the link. */
const actionVariables = ['action_url', 'code', 'expires_minutes', 'code_minutes'] as const

/** Variables of a security notice: from where the change was made. */
const noticeVariables = ['device', 'ip', 'occurred_at'] as const

export type TemplateKey = (typeof builtInTemplates)[number]

export interface Template {
  channel: 'email' | 'sms'
  /** Variables that a changed template must keep: without them the message is of no use. */
  required: readonly string[]
  /** Variables that it may use beside the common ones and the required ones. */
  optional: readonly string[]
  /** Empty for a text message. */
  subject: string
  /** HTML of a mail, without the frame around it; the text of a text message. */
  body: string
  /** The same as plain text. */
  body_text: string
}

/** A message, as its built-in template words it. */
interface Wording {
  subject: string
  paragraphs: string[]
  /** Label of the button that leads to the address in the variable. */
  button?: { label: string; variable: string }
  hasCode?: true
  required?: readonly string[]
  optional?: readonly string[]
}

function mail({ subject, paragraphs, button, hasCode, required = [], optional = [] }: Wording): Template {
  const [first = '', ...rest] = paragraphs
  const html = [
    `<p>${first}</p>`,
    ...(button ? [`<p><a class="button" href="{{${button.variable}}}">${button.label}</a></p>`] : []),
    ...(hasCode ? ['<p>Or enter this code: <strong class="code">{{code}}</strong></p>'] : []),
    ...rest.map((text) => `<p>${text}</p>`),
  ]
  const text = [
    first,
    ...(button ? [`${button.label}: {{${button.variable}}}`] : []),
    ...(hasCode ? ['Or enter this code: {{code}}'] : []),
    ...rest,
  ]
  const variables = [...(button ? [button.variable] : []), ...(hasCode ? ['code'] : []), ...required]
  return {
    channel: 'email',
    required: variables,
    optional: optional.filter((name) => !variables.includes(name)),
    subject,
    body: html.join('\n'),
    body_text: text.join('\n\n'),
  }
}

/** A mail with a link and a code of which either one acts. */
function action(subject: string, label: string, paragraphs: string[], required: string[] = []): Template {
  const lifetime = 'The link works for {{expires_minutes}} minutes, the code for {{code_minutes}}.'
  const button = { label, variable: 'action_url' }
  return mail({
    subject,
    paragraphs: [...paragraphs, lifetime],
    button,
    hasCode: true,
    required,
    optional: actionVariables,
  })
}

/** A mail about a change of the account, with where it was made. */
function notice(subject: string, sentence: string, required: string[] = [], optional: string[] = []): Template {
  const where = 'Time: {{occurred_at}}. Device: {{device}}. Address: {{ip}}.'
  const advice = 'If this was not you, reset your password at once and sign out all sessions.'
  return mail({ subject, paragraphs: [sentence, where, advice], required, optional: [...noticeVariables, ...optional] })
}

function text(body: string): Template {
  return { channel: 'sms', required: ['code'], optional: ['expires_minutes'], subject: '', body, body_text: body }
}

const ignore = 'If you did not ask for this, ignore this mail: nothing changes.'

export const templates = {
  confirm_email: action('Confirm your address for {{site_name}}', 'Confirm the address', [
    'Confirm that {{email}} is your address.',
    ignore,
  ]),
  existing_account: mail({
    subject: 'You have an account at {{site_name}}',
    paragraphs: [
      'Someone signed up at {{site_name}} with {{email}}, which has an account already.',
      'If that was you, sign in. If you do not know the password, reset it there.',
      'If it was not you, you need not do anything: nothing was changed.',
    ],
    button: { label: 'Sign in', variable: 'sign_in_url' },
  }),
  magic_link: action('Sign in to {{site_name}}', 'Sign in', ['Sign in as {{email}}.', ignore]),
  sign_in_code: mail({
    subject: 'Your code for {{site_name}}',
    paragraphs: [
      'Your code to sign in is {{code}}.',
      'It is valid for {{code_minutes}} minutes. Give it to no one.',
      ignore,
    ],
    required: ['code'],
    optional: ['code_minutes', 'expires_minutes'],
  }),
  reset_password: action('Reset your password for {{site_name}}', 'Choose a new password', [
    'A new password was asked for the account {{email}}.',
    ignore,
  ]),
  invite: action(
    'You are invited to {{site_name}}',
    'Accept the invitation',
    ['{{inviter_name}} invites you to {{site_name}}.', ignore],
    ['inviter_name'],
  ),
  email_change_confirm: action(
    'Confirm your new address for {{site_name}}',
    'Confirm the new address',
    ['Confirm that {{new_email}} is the new address of your account at {{site_name}}.', ignore],
    ['new_email'],
  ),
  email_change_notice: mail({
    subject: 'The address of your account at {{site_name}} is about to change',
    paragraphs: [
      'A change of your address from {{old_email}} to {{new_email}} was asked for.',
      'If this was not you, keep the old address. That also ends all sessions and removes every way to sign in, and you choose a new password.',
      'Time: {{occurred_at}}. Device: {{device}}. Address: {{ip}}.',
    ],
    button: { label: 'Keep the old address', variable: 'undo_url' },
    required: ['old_email', 'new_email'],
    optional: noticeVariables,
  }),
  reauthentication: mail({
    subject: 'Your code for {{site_name}}',
    paragraphs: [
      'Your code to confirm this change is {{code}}.',
      'It is valid for {{code_minutes}} minutes. Give it to no one.',
    ],
    required: ['code'],
    optional: ['code_minutes', 'expires_minutes'],
  }),
  password_changed: notice('Your password for {{site_name}} was changed', 'The password of {{email}} was changed.'),
  email_changed: notice(
    'The address of your account at {{site_name}} was changed',
    'Your address is {{new_email}} now.',
    ['new_email'],
  ),
  phone_changed: notice(
    'The phone number of your account at {{site_name}} was changed',
    'Your phone number is {{phone}} now.',
    ['phone'],
    ['old_phone'],
  ),
  identity_linked: notice(
    'A sign-in was added to your account at {{site_name}}',
    'You can sign in with {{provider_name}} now.',
    ['provider_name'],
  ),
  identity_unlinked: notice(
    'A sign-in was removed from your account at {{site_name}}',
    'You can no longer sign in with {{provider_name}}.',
    ['provider_name'],
  ),
  mfa_enrolled: notice(
    'A second factor was added to your account at {{site_name}}',
    'The new factor is: {{factor_type}}.',
    ['factor_type'],
  ),
  mfa_removed: notice(
    'A second factor was removed from your account at {{site_name}}',
    'The removed factor is: {{factor_type}}. It was removed by {{actor}}.',
    ['factor_type', 'actor'],
  ),
  recovery_code_used: notice(
    'A recovery code was used at {{site_name}}',
    'A recovery code was used to sign in. You have {{remaining}} left.',
    ['remaining'],
  ),
  new_sign_in: mail({
    subject: 'A new sign-in to your account at {{site_name}}',
    paragraphs: [
      'Someone signed in as {{email}}.',
      'Time: {{occurred_at}}. Device: {{device}}. Address: {{ip}} ({{country}}).',
      'If this was not you, reset your password at once and sign out all sessions.',
    ],
    button: { label: 'See your sessions', variable: 'revoke_url' },
    required: ['device', 'occurred_at'],
    optional: ['ip', 'country'],
  }),
  session_reuse_detected: notice(
    'A session of yours at {{site_name}} was ended',
    'A session was used from two places at once, as it happens when it was stolen. It was ended: sign in again.',
  ),
  account_locked: notice(
    'Sign-in to your account at {{site_name}} is paused',
    'There were too many wrong attempts. Signing in is paused for {{unlock_minutes}} minutes. Open sessions go on.',
    ['unlock_minutes'],
  ),
  phone_otp: text('{{code}} is your code for {{site_name}}. Give it to no one.'),
  phone_change_otp: text('{{code}} confirms your new phone number for {{site_name}}. Give it to no one.'),
} as const satisfies Record<TemplateKey, Template>

/** Examples of the values of variables. The links lead to a domain that is reserved for examples, and the code opens nothing. */
const examples: Record<string, string> = {
  site_name: 'Example',
  site_url: 'https://example.com',
  email: 'ada@example.com',
  user_id: 'usr_00000000000000000000000000',
  locale: 'en',
  support_email: 'support@example.com',
  action_url: 'https://example.com/?token=example',
  undo_url: 'https://example.com/?token=example',
  revoke_url: 'https://example.com/sessions',
  sign_in_url: 'https://example.com',
  code: '000000',
  expires_minutes: '60',
  code_minutes: '10',
  unlock_minutes: '15',
  device: 'Firefox on Linux',
  ip: '192.0.2.1',
  country: 'DE',
  occurred_at: '2026-01-31 12:00 UTC',
  inviter_name: 'Grace Hopper',
  old_email: 'ada@example.com',
  new_email: 'ada@example.org',
  phone: '+15550100000',
  provider_name: 'Google',
  factor_type: 'authenticator app',
  actor: 'you',
  remaining: '9',
}

/** Variables of a built-in template beside the common ones. */
export function variablesOf({ required, optional }: Pick<Template, 'required' | 'optional'>): TemplateVariable[] {
  const isCommon = (name: string) => commonVariables.some((common) => common === name)
  const names = [...new Set([...required, ...optional])].filter((name) => !isCommon(name))
  return names.map((name) => ({ name, required: required.includes(name), example: examples[name] ?? name }))
}

export const commonExamples: readonly TemplateVariable[] = commonVariables.map((name) => ({
  name,
  required: false,
  example: examples[name]!,
}))
