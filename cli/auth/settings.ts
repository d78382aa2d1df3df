/** `stack auth settings set`: single settings merged into the current document, or the whole document (source, same heading). */
import { settings } from '../../src/wire/operations.ts'
import { Failure } from '../shared/failure.ts'
import { printAnswer } from '../shared/http-verb.ts'
import { membersOf, objectOf } from '../shared/json-text.ts'
import { announce, send } from '../shared/management.ts'
import { type Payload, readPayload } from '../shared/payload.ts'
import type { Answer } from '../shared/request.ts'
import { locateTarget, type TargetFlags } from '../shared/target.ts'

export interface SettingsFlags extends TargetFlags {
  json?: string
  passwordMin?: string
  passwordMax?: string
  confirmEmail?: string
  siteUrl?: string
}

export async function runSet(flags: SettingsFlags): Promise<void> {
  const named = namedSettings(flags)
  if (named.size === 0 && flags.json === undefined) {
    throw new Failure(
      'usage',
      'nothing to set: name a setting (--password-min, --password-max, --confirm-email, --site-url) or the whole document (--json)',
    )
  }
  const payload = flags.json === undefined ? undefined : await readPayload('--json', flags.json)
  const given = payload && named.size > 0 ? membersOfObject(payload) : new Map<string, string>()
  const target = await locateTarget(flags)
  announce(target)
  if (payload && named.size === 0) {
    await report(await send(target, { ...settings.replace, body: payload.text }))
    return
  }
  const current = await send(target, settings.read)
  const members = membersOf(current.text)
  if (!members) throw new Failure('refused', `the stack answered ${current.status}: ${current.text}`)
  const body = objectOf(new Map([...members, ...given, ...named]))
  await report(await send(target, { ...settings.replace, body, ifMatch: current.etag }))
}

/** The settings that have flags, as JSON texts by their field names. Only flags that were given are among them. */
function namedSettings({ passwordMin, passwordMax, confirmEmail, siteUrl }: SettingsFlags): Map<string, string> {
  const named = new Map<string, string>()
  if (passwordMin !== undefined) named.set('password_min_length', wholeNumberOf('--password-min', passwordMin))
  if (passwordMax !== undefined) named.set('password_max_length', wholeNumberOf('--password-max', passwordMax))
  if (confirmEmail !== undefined) {
    if (confirmEmail !== 'true' && confirmEmail !== 'false')
      throw new Failure('usage', `--confirm-email takes true or false, not ${JSON.stringify(confirmEmail)}`)
    named.set('confirm_email_required', confirmEmail)
  }
  if (siteUrl !== undefined) named.set('site_url', JSON.stringify(siteUrl))
  return named
}

/** The range is the stack's to judge. */
function wholeNumberOf(flag: string, text: string): string {
  if (!/^-?(?:0|[1-9]\d{0,8})$/.test(text))
    throw new Failure('usage', `${flag} takes a whole number, not ${JSON.stringify(text)}`)
  return text
}

function membersOfObject({ text, source }: Payload): Map<string, string> {
  const members = membersOf(text)
  if (members) return members
  throw new Failure('usage', `${source} must be a JSON object: single settings are merged into it. Nothing was sent`)
}

/** A misspelled field changes nothing, so the names of ignored fields are said beside the answer. */
async function report(answer: Answer): Promise<void> {
  await printAnswer(answer)
  const { ignored_fields: ignored } = (answer.text === '' ? {} : JSON.parse(answer.text)) as {
    ignored_fields?: unknown
  }
  if (!Array.isArray(ignored) || ignored.length === 0) return
  process.stderr.write(`ignored, because the stack knows no such field: ${ignored.join(', ')}\n`)
}
